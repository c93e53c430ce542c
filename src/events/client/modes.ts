/**
 * Chooses the delivery mode of a subscription.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { SdkError } from '../../protocol/errors.ts'
import type { DeliveryMode, EventType } from '../wire.ts'

/** The modes from the most to the least immediate. */
const ORDER: readonly DeliveryMode[] = ['webhook', 'push', 'poll']

/** The error for an event type that lacks the requested mode, or has no mode that the client supports. */
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
 * @param requested The mode that the application requests.
 * @throws {NoCompatibleDeliveryMode} If the type lacks the requested mode, or every supported mode.
 */
export function chooseMode(
  { name, delivery }: Pick<EventType, 'name' | 'delivery'>,
  supported: readonly DeliveryMode[],
  requested?: DeliveryMode,
): DeliveryMode {
  const mode = ORDER.find(
    (candidate) =>
      delivery.includes(candidate) &&
      supported.includes(candidate) &&
      (requested === undefined || requested === candidate),
  )
  if (mode) return mode
  const [offeredModes, supportedModes] = [delivery, supported].map((modes) => modes.join(', '))
  const obstacle =
    requested === undefined
      ? `the client supports ${supportedModes}`
      : `"${requested}" was requested`
  throw new NoCompatibleDeliveryMode(`"${name}" is delivered by ${offeredModes}, but ${obstacle}`)
}
