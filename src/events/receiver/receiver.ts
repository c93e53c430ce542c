/**
 * The endpoint of a webhook: verifies the requests of servers, and passes events to the application.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { readBytes } from '../../patterns/bounded-read.ts'
import { isObject } from '../../protocol/validate.ts'
import { isTimely, SignatureHeader, verifyWebhook } from '../signature.ts'
import { MAX_WEBHOOK_BYTES, SUBSCRIPTION_HEADER } from '../wire.ts'
import { Dispatcher, type Outcome } from './dispatch.ts'
import type { EventReceiverOptions, ExecutionPlatform } from './options.ts'

/**
 * Creates a webhook endpoint, for every runtime with `Request` and `Response`. Requests with invalid
 * signatures reach no handler. Verification requests are answered automatically, and repeated
 * events are acknowledged without calling `onEvent` again.
 *
 * @example
 * ```ts
 * import { createEventReceiver } from 'edgewise/events/client'
 *
 * const secrets = new Map<string, string>()
 * const receive = createEventReceiver({
 *   secretFor: ({ url }) => secrets.get(url.pathname),
 *   onEvent: ({ name, data }) => console.log(name, data),
 * })
 * export default { fetch: receive }
 * ```
 *
 * @returns The handler of requests. Its second argument is the execution context of Workers, for
 *   `waitUntil`; other runtimes need none. Statuses: 200 for a verification; 204 for a processed
 *   request; 400 for a body that is not an event; 401 if the signature or the timestamp is invalid,
 *   or the subscription is unknown; 405 for a method other than POST; 410 if the event is not wanted; 413
 *   for a body larger than 256 KiB; 415 for a body that is not JSON; 503 if the server should send the event
 *   again.
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export function createEventReceiver(
  options: EventReceiverOptions,
): (request: Request, platform?: object) => Promise<Response> {
  const { onError = console.error } = options
  const report = (error: unknown): void =>
    onError(error instanceof Error ? error : new Error(String(error)))
  const dispatcher = new Dispatcher(options, report)

  const receive = async (request: Request, platform?: ExecutionPlatform): Promise<Outcome> => {
    const { method, headers, body } = request
    if (method !== 'POST') return 405
    if (!/^application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? '')) return 415
    const id = headers.get(SignatureHeader.ID)
    const timestamp = headers.get(SignatureHeader.TIMESTAMP)
    const signatures = headers.get(SignatureHeader.SIGNATURE)
    if (!id || !timestamp || !signatures || !isTimely(timestamp)) return 401
    const route = { id: headers.get(SUBSCRIPTION_HEADER), url: new URL(request.url) }
    const secretOrSubscription = await options.secretFor(route)
    if (!secretOrSubscription) return 401
    const subscription =
      typeof secretOrSubscription === 'string'
        ? { secrets: [secretOrSubscription] }
        : secretOrSubscription
    const bytes = await readBytes(body, MAX_WEBHOOK_BYTES)
    if (!bytes) return 413
    // The body is not parsed before its signature is verified
    const message = { id, timestamp, body: bytes }
    const verifications = subscription.secrets.map((secret) =>
      verifyWebhook(secret, message, signatures),
    )
    if (!(await Promise.all(verifications)).includes(true)) return 401
    const content = parse(bytes)
    if (!isObject(content)) return 400
    const waitUntil = (work: Promise<unknown>): void => {
      const caught = work.catch(report)
      platform?.waitUntil?.(caught)
    }
    return dispatcher.dispatch(content, subscription, { ...route, waitUntil })
  }

  return async (request, platform) => {
    const outcome = await receive(request, platform).catch((error: unknown) => {
      report(error)
      return 503
    })
    if (typeof outcome === 'object') return Response.json(outcome)
    const headers: HeadersInit = outcome === 405 ? { allow: 'POST' } : {}
    return new Response(null, { status: outcome, headers })
  }
}

/** Parses JSON. Returns undefined if the bytes are not JSON. */
function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}
