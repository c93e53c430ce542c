/**
 * Proof that the owner of a URL agrees to receive events: the URL answers a challenge, or its origin
 * lists it in a well-known document.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { boundedCache } from '../../patterns/bounded-cache.ts'
import { isObject } from '../../protocol/validate.ts'
import type { RequestContext } from '../../server/request/request-context.ts'
import type { EventHost } from '../host.ts'
import type { DeliveryFailure } from '../wire.ts'
import { isBelow } from './callback.ts'
import type { WebhookSettings } from './options.ts'
import { randomText, sendRequest, sendSigned } from './request.ts'

const WELL_KNOWN = '/.well-known/mcp-webhook-receiver.json'
/** The hosts whose challenges are counted. */
const MAX_HOSTS = 10_000
/** The period in which challenges of a host are counted, in milliseconds. */
const PERIOD_MS = 60_000
/** How many challenges of a host may succeed in a period. */
const MAX_SUCCEEDED = 200
/** How many challenges of a host may fail or be pending in a period. */
const MAX_FAILED = 20

/** What is to be verified. */
export interface VerificationRequest {
  readonly url: string
  readonly principal: string
  readonly subscriptionId: string
  readonly secret: string
}

/** Verifies URLs, and stores for which principals it has. */
export class Verification {
  readonly #host: EventHost
  readonly #settings: WebhookSettings
  readonly #counts = boundedCache<string, { failed: number; succeeded: number }>(MAX_HOSTS)

  constructor(host: EventHost, settings: WebhookSettings) {
    this.#host = host
    this.#settings = settings
  }

  /**
   * Ensures that a principal may have events sent to a URL.
   *
   * @throws {ProtocolError} CallbackEndpointError if the URL does not answer the challenge;
   *   ResourceExhausted if its host was asked too often.
   */
  async ensure(request: VerificationRequest, ctx: RequestContext): Promise<void> {
    const { storage } = this.#host
    const { url, principal } = request
    const { isVerified, wellKnown, verifiedMs } = this.#settings
    if (((await storage.verifiedUntil(principal, url)) ?? 0) > Date.now()) return
    if (await isVerified?.(new URL(url), principal)) return
    const count = this.#countOf(new URL(url).host, ctx)
    count.failed++
    const isListed = wellKnown === true && (await this.#isListed(url))
    const reason = isListed ? undefined : await this.#challenge(request)
    if (reason) {
      const message = 'The callback did not accept the verification'
      throw this.#host.error('CallbackEndpointError', message, { reason }, ctx)
    }
    count.failed--
    count.succeeded++
    await storage.setVerified(principal, url, Date.now() + verifiedMs)
  }

  /** The number of challenges of a host in this period. */
  #countOf(host: string, ctx: RequestContext): { failed: number; succeeded: number } {
    const count = this.#counts.get(host) ?? { failed: 0, succeeded: 0 }
    if (count.failed >= MAX_FAILED || count.succeeded >= MAX_SUCCEEDED) {
      const message = `Too many verifications of "${host}": try again in a minute`
      throw this.#host.error('ResourceExhausted', message, { limit: 'verifications' }, ctx)
    }
    if (count.failed + count.succeeded === 0) {
      this.#counts.set(host, count, performance.now() + PERIOD_MS)
    }
    return count
  }

  /** Sends a challenge; returns why it failed. */
  async #challenge(request: VerificationRequest): Promise<DeliveryFailure | undefined> {
    const { url, subscriptionId, secret } = request
    const challenge = randomText()
    const body = new TextEncoder().encode(JSON.stringify({ type: 'verification', challenge }))
    const messageId = `msg_verification_${randomText()}`
    const signed = { url, subscriptionId, messageId, body, secrets: [{ secret }] }
    const { status, failure, text } = await sendSigned(signed, this.#settings)
    if (status === undefined) return failure
    return !failure && isEqual(parse(text)?.challenge, challenge) ? undefined : 'challenge_failed'
  }

  /** Whether the well-known document of the URL's origin lists it. */
  async #isListed(url: string): Promise<boolean> {
    const { origin, pathname } = new URL(url)
    const request = { method: 'GET', headers: { accept: 'application/json' } } as const
    const { failure, text } = await sendRequest(origin + WELL_KNOWN, request, this.#settings)
    const receivers = failure ? undefined : parse(text)?.receivers
    if (!Array.isArray(receivers)) return false
    return receivers.some((path: unknown) => {
      return typeof path === 'string' && path.startsWith('/') && isBelow(pathname, path)
    })
  }
}

function parse(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Compares texts in time that depends only on their lengths. */
function isEqual(actual: unknown, expected: string): boolean {
  if (typeof actual !== 'string' || actual.length !== expected.length) return false
  let difference = 0
  for (let i = 0; i < expected.length; i++) {
    difference |= actual.charCodeAt(i) ^ expected.charCodeAt(i)
  }
  return difference === 0
}
