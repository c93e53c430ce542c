/**
 * State that travels through a client: encrypted, and rejected if it was modified.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { decodeBase64Url, encodeBase64Url } from '../protocol/base64url.ts'
import { SdkError } from '../protocol/errors.ts'

/** Converts values into text that only a holder of the secret can create or read. */
export interface Sealer {
  /** Encrypts a JSON value. The ciphertext differs each time. */
  seal(value: unknown): Promise<string>
  /**
   * The value of a sealed text; `undefined` if the text was modified, is sealed with an unknown
   * key, or is not sealed at all. Never throws because of the text, and does not reveal the reason.
   * Texts do not expire by themselves: put the time of expiry into the value.
   */
  open(text: string): Promise<unknown>
}

interface SealingKey {
  /** Version and key id: the first bytes of every text that this key seals. */
  header: Uint8Array<ArrayBuffer>
  key: CryptoKey
}

const VERSION = 1
const KEY_BYTES = 32
const KEY_ID_BYTES = 4
const HEADER_BYTES = 1 + KEY_ID_BYTES
const IV_BYTES = 12
const MIN_SECRET_CHARACTERS = 16

/**
 * Random text of at least 16 characters. A password is not suitable, because nothing slows down
 * guessing.
 *
 * Of several secrets, the first secret encrypts, and all secrets can decrypt. To rotate, put the new secret
 * in front, and keep the old one while texts encrypted with it are in use. If the secrets are stored
 * elsewhere, pass a function that returns them. The function is called on first use.
 */
export type Secrets =
  | string
  | readonly string[]
  | (() => string | readonly string[] | Promise<string | readonly string[]>)

/**
 * Creates a sealer based on AES-256-GCM.
 *
 * @param secrets If omitted, the key is random: no other sealer can open the texts. One secret can
 *   safely seal 2^32 texts.
 * @throws {SdkError} `INVALID_USE` if a secret is too short, or the list is empty. If the secrets come from
 *   a function, the sealer throws this error on first use.
 */
export function createSealer(secrets?: Secrets): Sealer {
  const givenSecrets =
    typeof secrets === 'function' || secrets === undefined ? undefined : requireLongSecrets(secrets)
  // Set on first use, because Workers allow neither randomness nor I/O at module startup. Only the keys are
  // cached, and not their promise, because on Workers a promise is tied to the request that created it
  let importedKeys: SealingKey[] | undefined
  const keys = async (): Promise<SealingKey[]> => {
    if (importedKeys) return importedKeys
    const list = typeof secrets === 'function' ? requireLongSecrets(await secrets()) : givenSecrets
    const imported = await Promise.all((list ?? [undefined]).map(importKey))
    // A concurrent first use may have imported other keys, if they are random
    importedKeys ??= imported
    return importedKeys
  }

  return {
    async seal(value) {
      const [{ header, key }] = (await keys()) as [SealingKey]
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
      const plaintext = new TextEncoder().encode(JSON.stringify(value))
      const sealed = await crypto.subtle.encrypt(algorithm(iv, header), key, plaintext)
      return encodeBase64Url(new Uint8Array([...header, ...iv, ...new Uint8Array(sealed)]))
    },

    async open(text) {
      const bytes = decodeBase64Url(text)
      if (!bytes) return undefined
      const sealingKey = (await keys()).find(({ header }) =>
        header.every((byte, index) => byte === bytes[index]),
      )
      if (!sealingKey) return undefined
      const iv = bytes.subarray(HEADER_BYTES, HEADER_BYTES + IV_BYTES)
      try {
        const sealed = bytes.subarray(HEADER_BYTES + IV_BYTES)
        const plaintext = await crypto.subtle.decrypt(
          algorithm(iv, sealingKey.header),
          sealingKey.key,
          sealed,
        )
        return JSON.parse(new TextDecoder().decode(plaintext)) as unknown
      } catch {
        return undefined
      }
    },
  }
}

function requireLongSecrets(secrets: string | readonly string[]): readonly string[] {
  const list = [secrets].flat()
  // An unset environment variable is `undefined`, whatever its type says
  if (list.length > 0 && list.every((secret) => secret?.length >= MIN_SECRET_CHARACTERS))
    return list
  throw new SdkError(
    'INVALID_USE',
    `Cannot seal state: each secret must have at least ${MIN_SECRET_CHARACTERS} characters`,
  )
}

function algorithm(iv: BufferSource, additionalData: BufferSource): AesGcmParams {
  return { name: 'AES-GCM', iv, additionalData }
}

/** Derives the key and its id together, so that the id reveals nothing about the key. */
async function importKey(secret: string | undefined): Promise<SealingKey> {
  const material =
    secret === undefined
      ? crypto.getRandomValues(new Uint8Array(KEY_BYTES + KEY_ID_BYTES))
      : await derive(secret)
  const header = new Uint8Array([VERSION, ...material.subarray(KEY_BYTES)])
  const raw = material.subarray(0, KEY_BYTES)
  const key = await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt'])
  return { header, key }
}

async function derive(secret: string): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  const source = encoder.encode(secret)
  const base = await crypto.subtle.importKey('raw', source, 'HKDF', false, ['deriveBits'])
  const info = encoder.encode('edgewise sealed state')
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info }
  const bits = await crypto.subtle.deriveBits(parameters, base, (KEY_BYTES + KEY_ID_BYTES) * 8)
  return new Uint8Array(bits)
}
