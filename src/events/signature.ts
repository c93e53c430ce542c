/**
 * Signatures of webhook requests, as Standard Webhooks defines them: an HMAC-SHA256 over the id, the
 * timestamp and the body.
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { TIMESTAMP_TOLERANCE_MS } from './wire.ts'

/** The names of the headers that a signature needs. */
export const SignatureHeader = {
  ID: 'webhook-id',
  TIMESTAMP: 'webhook-timestamp',
  SIGNATURE: 'webhook-signature',
} as const

/** What a signature covers. */
export interface SignedMessage {
  /** The header `webhook-id`. It must not contain a full stop. */
  readonly id: string
  /** The header `webhook-timestamp`: seconds since 1970. */
  readonly timestamp: string
  /** The bytes of the body. */
  readonly body: Uint8Array
}

/** Matches a secret. The group is the Base64 of its key. */
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/
/** Matches a signature of version 1. The group is its Base64. */
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/
/** The maximum number of signatures of a request that are checked. */
const MAX_SIGNATURES = 16
/** The length of a new key, in bytes. */
const KEY_BYTES = 32

/** Creates a secret: `whsec_` and the Base64 of 32 random bytes. */
export function createWebhookSecret(): string {
  const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return `whsec_${btoa(String.fromCharCode(...key))}`
}

/**
 * Decodes the key in a secret. The Base64 may lack its padding.
 *
 * @returns The key; undefined unless the secret is `whsec_` and the Base64 of 24 to 64 bytes.
 */
export function decodeWebhookSecret(secret: string): Uint8Array<ArrayBuffer> | undefined {
  const key = decodeBase64(SECRET.exec(secret)?.[1])
  return key && key.length >= 24 && key.length <= 64 ? key : undefined
}

/**
 * Signs a message.
 *
 * @returns A signature for the header `webhook-signature`, which may contain several, separated by spaces.
 * @throws {TypeError} if the secret is not `whsec_` and the Base64 of 24 to 64 bytes.
 */
export async function signWebhook(secret: string, message: SignedMessage): Promise<string> {
  const { key, content } = await prepare(secret, message)
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, content))
  return `v1,${btoa(String.fromCharCode(...signature))}`
}

/**
 * Whether one of the first 16 signatures in a header was created with the secret. Signatures of other
 * versions and malformed ones are ignored. The timestamp must be checked separately, with {@link isTimely}.
 *
 * @param signatures The header `webhook-signature`.
 * @throws {TypeError} if the secret is not `whsec_` and the Base64 of 24 to 64 bytes.
 */
export async function verifyWebhook(
  secret: string,
  message: SignedMessage,
  signatures: string,
): Promise<boolean> {
  const { key, content } = await prepare(secret, message)
  for (const signature of signatures.split(' ', MAX_SIGNATURES)) {
    const bytes = decodeBase64(SIGNATURE.exec(signature)?.[1])
    // The comparison takes constant time
    if (bytes && (await crypto.subtle.verify('HMAC', key, bytes, content))) return true
  }
  return false
}

/**
 * Whether a header `webhook-timestamp` is a whole number of seconds that differs from the current time by at
 * most five minutes.
 *
 * @param now Milliseconds since 1970.
 */
export function isTimely(timestamp: string, now: number = Date.now()): boolean {
  const isInteger = /^\d{1,12}$/.test(timestamp)
  return isInteger && Math.abs(now - Number(timestamp) * 1_000) <= TIMESTAMP_TOLERANCE_MS
}

/** Imports the key of a secret, and concatenates the bytes that are signed. */
async function prepare(
  secret: string,
  { id, timestamp, body }: SignedMessage,
): Promise<{ key: CryptoKey; content: Uint8Array<ArrayBuffer> }> {
  const bytes = decodeWebhookSecret(secret)
  if (!bytes) {
    throw new TypeError('A webhook secret must be "whsec_" and the Base64 of 24 to 64 bytes')
  }
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`)
  const content = new Uint8Array(prefix.length + body.length)
  content.set(prefix)
  content.set(body, prefix.length)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify'])
  return { key, content }
}

function decodeBase64(text: string | undefined): Uint8Array<ArrayBuffer> | undefined {
  try {
    if (text !== undefined) return Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0))
  } catch {
    // Not Base64
  }
  return undefined
}
