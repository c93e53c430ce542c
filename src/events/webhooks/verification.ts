/**
 * Verifies with a challenge that the owner of a URL agrees to receive events.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { boundedCache } from '../../patterns/bounded-cache.ts'
import { digestText } from '../../patterns/digest.ts'
import type { JsonObject } from '../../protocol/types.ts'
import { parseObject } from '../../protocol/validate.ts'
import type { EventHost } from '../host.ts'
import type { DeliveryFailure } from '../wire.ts'
import type { WebhookSettings } from './options.ts'
import { encodeBody, randomText, sendRequest, sendSigned } from './request.ts'

/** The maximum number of hosts whose challenges are counted. */
const MAX_HOSTNAMES = 10_000
/** The period in which the challenges of a host are counted, in milliseconds. */
const PERIOD_MS = 60_000
/** How many challenges of a host may succeed in a period. */
const MAX_SUCCEEDED = 200
/** How many challenges of a host may fail or be pending in a period. */
const MAX_FAILED = 20
/** How long the verification of a URL is valid, in milliseconds. */
const VERIFIED_MS = 86_400_000

/** Verifies that events for a principal may be sent to a URL. */
export type UrlVerifier = (
  url: string,
  principal: string,
  subscriptionId: string,
  secret: string,
) => Promise<void>

/**
 * Creates a function that verifies URLs, and remembers which principals have verified which URLs.
 *
 * The function throws CallbackEndpointError if the URL does not answer the challenge, and ResourceExhausted if
 * the URL's host was challenged too often.
 */
export function createUrlVerifier(eventHost: EventHost, settings: WebhookSettings): UrlVerifier {
  const counts = boundedCache<string, { failed: number; succeeded: number }>(MAX_HOSTNAMES)

  return async (url, principal, subscriptionId, secret) => {
    const { storage } = eventHost
    const parsedUrl = new URL(url)
    if (((await storage.verifiedUntil(principal, url)) ?? 0) > Date.now()) return
    const count = challengeCount(parsedUrl.host)
    // The challenge counts as failed until it has succeeded
    count.failed++
    const isKnown = await settings.isVerified?.(parsedUrl, principal, readDocument)
    const reason = isKnown ? undefined : await challenge(url, subscriptionId, secret)
    if (reason) {
      const message = 'The callback did not accept the verification'
      throw eventHost.error('CallbackEndpointError', message, { reason })
    }
    count.failed--
    count.succeeded++
    await storage.setVerified(principal, url, Date.now() + VERIFIED_MS)
  }

  /**
   * Returns the counts of a host's challenges in the current period. The caller updates them.
   *
   * @throws {ProtocolError} ResourceExhausted if a limit is reached.
   */
  function challengeCount(hostname: string): { failed: number; succeeded: number } {
    let count = counts.get(hostname)
    if (!count) {
      count = { failed: 0, succeeded: 0 }
      counts.set(hostname, count, performance.now() + PERIOD_MS)
    }
    if (count.failed < MAX_FAILED && count.succeeded < MAX_SUCCEEDED) return count
    const message = `Too many verifications of "${hostname}": try again in a minute`
    throw eventHost.error('ResourceExhausted', message, { limit: 'verifications' })
  }

  /** Sends a challenge. Returns why it failed, or undefined if it succeeded. */
  async function challenge(
    url: string,
    subscriptionId: string,
    secret: string,
  ): Promise<DeliveryFailure | undefined> {
    const nonce = randomText()
    const body = encodeBody({ type: 'verification', challenge: nonce })
    const messageId = `msg_verification_${randomText()}`
    const secrets = [{ secret }]
    const request = { url, subscriptionId, messageId, body, secrets }
    const { status, failure, text } = await sendSigned(request, settings)
    if (status === undefined) return failure
    const isEchoed = await isEqual(parseObject(text)?.challenge, nonce)
    return isEchoed && !failure ? undefined : 'challenge_failed'
  }

  /** Fetches the JSON object at a URL. Returns an empty object if there is none. */
  async function readDocument(url: string): Promise<JsonObject> {
    const { failure, text } = await sendRequest(url, { method: 'GET', headers: {} }, settings)
    return parseObject(failure ? undefined : text) ?? {}
  }
}

/** Compares texts by their digests, so that the duration reveals nothing about them. */
async function isEqual(actual: unknown, expected: string): Promise<boolean> {
  return (await digestText(String(actual))) === (await digestText(expected))
}
