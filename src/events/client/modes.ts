/**
 * Chooses the delivery mode of a subscription.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { SdkError } from '../../protocol/errors.ts'
import type { DeliveryMode, EventType } from '../wire.ts'

/** The modes from the most to the least immediate. */
const ORDER: readonly DeliveryMode[] = ['webhook', 'push', 'poll']

/** The error if an event type lacks the requested delivery mode, or has none that the client supports. */
export class NoCompatibleDeliveryMode extends SdkError {
  constructor(message: string) {
    super('UNSUPPORTED', message)
    this.name = 'NoCompatibleDeliveryMode'
  }
}

/**
 * Chooses the mode of a subscription.
 *
 * @param supported The modes that the client supports.
 * @param wanted The mode that the application requests.
 * @throws {NoCompatibleDeliveryMode} If the type has no such mode.
 */
export function chooseMode(
  { name, delivery }: Pick<EventType, 'name' | 'delivery'>,
  supported: readonly DeliveryMode[],
  wanted?: DeliveryMode,
): DeliveryMode {
  const mode = ORDER.find(
    (candidate) =>
      delivery.includes(candidate) &&
      supported.includes(candidate) &&
      (wanted === undefined || wanted === candidate),
  )
  if (mode) return mode
  const [offeredModes, supportedModes] = [delivery, supported].map((modes) => modes.join(', '))
  const needed =
    wanted === undefined ? `the client supports ${supportedModes}` : `"${wanted}" was requested`
  throw new NoCompatibleDeliveryMode(`"${name}" is delivered by ${offeredModes}, but ${needed}`)
}
