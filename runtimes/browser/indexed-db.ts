/**
 * Tokens and keys in the browser's database, shared by all pages of an origin.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#token-theft
 */
import type { TokenStore } from '../../src/authorization/index.ts'

const TOKENS = 'tokens'
const KEYS = 'keys'
/** How often who waits for another page asks anew, in milliseconds. */
const ASK_MS = 5_000

/**
 * Keeps tokens in IndexedDB: give the result to the way of signing in as `tokens`. Pages that share a
 * database renew each token once. Whatever script runs on the origin can read them, so give your
 * pages a Content-Security-Policy.
 *
 * @param database The name of the database; one for each user. Default: `edgewise`.
 */
export function indexedDbTokenStore(database = 'edgewise'): TokenStore {
  return {
    get: (key) => run(database, TOKENS, 'readonly', (tokens) => tokens.get(key)),
    set: (key, value) => run(database, TOKENS, 'readwrite', (tokens) => tokens.put(value, key)),
    delete: (key) => run(database, TOKENS, 'readwrite', (tokens) => tokens.delete(key)),
    withLock: (key, work) => inTurn(`${database} ${key}`, work),
  }
}

/**
 * A key pair for `dpop()` that stays in this browser: its private key cannot be read by anyone, so
 * tokens that are bound to it are of no use elsewhere.
 *
 * @param database The name of the database. Default: `edgewise`.
 */
export function indexedDbKeyPair(database = 'edgewise'): Promise<CryptoKeyPair> {
  return inTurn(`${database} ${KEYS}`, async () => {
    const kept = await run<CryptoKeyPair | undefined>(database, KEYS, 'readonly', (keys) =>
      keys.get(KEYS),
    )
    if (kept) return kept
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
    const pair = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])
    await run(database, KEYS, 'readwrite', (keys) => keys.put(pair, KEYS))
    return pair
  })
}

/**
 * Does something while no other page does. A page that was left meanwhile may hold the lock in the
 * back-forward cache, which browsers throw out for who asks then, but not for who waits already.
 */
function inTurn<T>(lock: string, work: () => Promise<T>): Promise<T> {
  const { locks } = navigator
  const ask = (): void => {
    const signal = AbortSignal.timeout(ASK_MS)
    locks.request(lock, { signal }, () => {}).catch(() => {})
  }
  // Goes on while it is our turn, where it changes nothing
  const timer = setInterval(ask, ASK_MS)
  return locks.request(lock, work).finally(() => clearInterval(timer))
}

/** Opens the database for one operation, so that no page keeps others from changing it. */
async function run<T>(
  name: string,
  store: string,
  mode: IDBTransactionMode,
  operation: (store: IDBObjectStore) => IDBRequest,
): Promise<T> {
  const opening = indexedDB.open(name, 1)
  opening.addEventListener('upgradeneeded', () => {
    for (const one of [TOKENS, KEYS]) opening.result.createObjectStore(one)
  })
  await done(opening, 'success', 'error')
  const database = opening.result
  try {
    const transaction = database.transaction(store, mode)
    const request = operation(transaction.objectStore(store))
    await done(transaction, 'complete', 'abort')
    return request.result
  } finally {
    database.close()
  }
}

function done(work: IDBRequest | IDBTransaction, success: string, failure: string): Promise<void> {
  return new Promise((resolve, reject) => {
    work.addEventListener(success, () => resolve())
    work.addEventListener(failure, () => reject(work.error ?? new Error('No reason given')))
  })
}
