/**
 * Tokens and keys in IndexedDB, shared by all pages of an origin.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#token-theft
 */
import type { TokenStore } from '../../src/authorization/index.ts'

/** The object store with the tokens. */
const TOKENS = 'tokens'
/** The object store with the key pair, its only record. */
const KEYS = 'keys'
/** The key under which the key pair is stored. */
const KEY_PAIR_KEY = 'keys'
/** How often a page that waits for the lock requests it again, in milliseconds. */
const REQUEST_AGAIN_MS = 5_000

/**
 * Stores tokens in IndexedDB: pass the result as `tokens` to a function that signs in. Pages that
 * share a database refresh each token once. Any script on the origin can read the tokens, so
 * protect your pages with a Content-Security-Policy.
 *
 * @param database The name of the database. Use another name for each user. Default: `edgewise`.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#token-theft
 */
export function indexedDbTokenStore(database = 'edgewise'): TokenStore {
  return {
    get: (key) => withStore(database, TOKENS, 'readonly', (tokens) => tokens.get(key)),
    set: (key, value) =>
      withStore(database, TOKENS, 'readwrite', (tokens) => tokens.put(value, key)),
    delete: (key) => withStore(database, TOKENS, 'readwrite', (tokens) => tokens.delete(key)),
    withLock: (key, work) => withPageLock(`${database} ${key}`, work),
  }
}

/**
 * Loads the key pair for `dpop()` from IndexedDB, or creates it and stores it there. Its private key cannot be
 * extracted from this browser, so tokens that are bound to the key pair are useless elsewhere.
 *
 * @param database The name of the database. Default: `edgewise`.
 * @see https://www.rfc-editor.org/rfc/rfc9449
 */
export function indexedDbKeyPair(database = 'edgewise'): Promise<CryptoKeyPair> {
  return withPageLock(`${database} ${KEYS}`, async () => {
    const stored = await withStore<CryptoKeyPair | undefined>(database, KEYS, 'readonly', (keys) =>
      keys.get(KEY_PAIR_KEY),
    )
    if (stored) return stored
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
    // The argument `false` makes the private key non-extractable
    const pair = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])
    await withStore(database, KEYS, 'readwrite', (keys) => keys.put(pair, KEY_PAIR_KEY))
    return pair
  })
}

/**
 * Runs work under a lock shared by all pages. If a page in the back/forward cache holds the lock, a new
 * request for the lock makes the browser evict that page. A request that already waits does not have this
 * effect, so a page that waits requests the lock repeatedly.
 */
function withPageLock<T>(lock: string, work: () => Promise<T>): Promise<T> {
  const { locks } = navigator
  const requestAgain = (): void => {
    const signal = AbortSignal.timeout(REQUEST_AGAIN_MS)
    locks.request(lock, { signal }, () => {}).catch(() => {})
  }
  // The timer continues while this page holds the lock, but then has no effect
  const timer = setInterval(requestAgain, REQUEST_AGAIN_MS)
  return locks.request(lock, work).finally(() => clearInterval(timer))
}

/** Opens the database for a single operation, so that no page blocks schema changes by other pages. */
async function withStore<T>(
  name: string,
  store: string,
  mode: IDBTransactionMode,
  operation: (store: IDBObjectStore) => IDBRequest,
): Promise<T> {
  const opening = indexedDB.open(name, 1)
  opening.addEventListener('upgradeneeded', () => {
    for (const storeName of [TOKENS, KEYS]) opening.result.createObjectStore(storeName)
  })
  await untilDone(opening, 'success', 'error')
  const database = opening.result
  try {
    const transaction = database.transaction(store, mode)
    const request = operation(transaction.objectStore(store))
    await untilDone(transaction, 'complete', 'abort')
    return request.result
  } finally {
    database.close()
  }
}

/** Resolves after the target's `successEvent`, and rejects after its `failureEvent`. */
function untilDone(
  target: IDBRequest | IDBTransaction,
  successEvent: string,
  failureEvent: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    target.addEventListener(successEvent, () => resolve())
    target.addEventListener(failureEvent, () =>
      reject(target.error ?? new Error('No reason given')),
    )
  })
}
