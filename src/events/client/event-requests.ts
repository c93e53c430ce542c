/**
 * Sends the requests of the Events extension, if the server offers events, and converts their errors.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { ExtensionClient } from '../../client/extension.ts'
import type { RequestOptions } from '../../client/request-options.ts'
import { walkPages } from '../../patterns/pages.ts'
import { ProtocolError, SdkError } from '../../protocol/errors.ts'
import { EVENTS_EXTENSION } from '../../protocol/extension-ids.ts'
import type { JsonObject, Result } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import type { DeliveryMode, EventType } from '../wire.ts'
import { EventError } from './event-error.ts'

/** Receives errors that do not end the operation. */
export type Report = (error: unknown) => void

const MODES: readonly unknown[] = ['poll', 'push', 'webhook'] satisfies DeliveryMode[]

/**
 * Returns what a server declares about events. Returns undefined if the server offers no events, or offers
 * them only in a revision of the extension that this SDK does not know.
 */
export function offeredEvents(
  { serverCapabilities = {} }: Pick<ExtensionClient, 'serverCapabilities'>,
  report: Report,
): { readonly listChanged: boolean } | undefined {
  const settings = serverCapabilities.extensions?.[EVENTS_EXTENSION]
  const isKnown = isObject(settings) && settings.revision === undefined
  if (isObject(settings) && !isKnown) {
    const revision = JSON.stringify(settings.revision)
    report(
      new SdkError('UNSUPPORTED', `The server's revision ${revision} of events is not supported`),
    )
  }
  // Some servers declare only `events`, the older form of the capability
  const offered = isKnown ? settings : serverCapabilities.events
  return isObject(offered) ? { listChanged: offered.listChanged === true } : undefined
}

/**
 * Sends a request of the extension.
 *
 * @throws {SdkError} `CAPABILITY_MISSING` before anything is sent, if the server offers no events.
 * @throws {EventError} The error that the server responded with.
 */
export async function requestEvents(
  client: ExtensionClient,
  method: string,
  params: JsonObject,
  options: RequestOptions,
): Promise<Result> {
  if (client.serverCapabilities && !offeredEvents(client, () => {})) {
    throw new SdkError('CAPABILITY_MISSING', `The server does not offer "${method}"`)
  }
  try {
    const capabilities = { extensions: { [EVENTS_EXTENSION]: {} } }
    return await client.request(method, params, { ...options, capabilities })
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    const { retryAfter } = error
    throw Object.assign(new EventError(error), { retryAfter })
  }
}

/** Lists the event types. Malformed entries are omitted and reported. */
export async function listEventTypes(
  client: ExtensionClient,
  report: Report,
  options: RequestOptions = {},
): Promise<EventType[]> {
  const method = 'events/list'
  // Called only to report a revision that is not supported
  offeredEvents(client, report)
  const fetchPage = async (cursor: string | undefined): Promise<Result> => {
    const params = cursor === undefined ? {} : { cursor }
    const page = await requestEvents(client, method, params, options)
    if (!Array.isArray(page.events)) {
      throw new SdkError('INVALID_MESSAGE', `"${method}" returned an invalid result`, {
        data: page,
      })
    }
    return { ...page, events: page.events.flatMap((entry) => readEventType(entry, report)) }
  }
  const types: EventType[] = []
  for await (const type of walkPages<EventType>(method, fetchPage, 'events', {}, report)) {
    types.push(type)
  }
  return types
}

/** Reads an entry of the list. Reports a malformed entry, and returns an empty array for it. */
function readEventType(entry: unknown, report: Report): EventType[] {
  const { name, delivery, inputSchema, payloadSchema } = isObject(entry) ? entry : {}
  const modes = Array.isArray(delivery) ? delivery.filter((mode) => MODES.includes(mode)) : []
  const isValid =
    typeof name === 'string' && modes.length > 0 && isSchema(inputSchema) && isSchema(payloadSchema)
  if (isValid) return [{ ...(entry as EventType), delivery: modes }]
  const text = JSON.stringify(name) ?? 'without a name'
  report(new SdkError('INVALID_MESSAGE', `The event type ${text} is malformed`, { data: entry }))
  return []
}

function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || isObject(value)
}
