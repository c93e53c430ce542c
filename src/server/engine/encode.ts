/**
 * Encoding of results and errors for the client's revision.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
 */
import { ProtocolError, retryAfterMsOf, toErrorObject } from '../../protocol/errors.ts'
import { INTERNAL_ERROR, RESOURCE_NOT_FOUND } from '../../protocol/error-codes.ts'
import { META_SERVER_INFO } from '../../protocol/meta.ts'
import type { MethodFacts } from '../../protocol/methods.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import { serverFacts } from '../../protocol/server-facts.ts'
import type { Meta, Result, ErrorObject } from '../../protocol/types.ts'
import type { ServerDefinition } from '../definition.ts'

/** The encoded forms of each list result, by revision. */
const encodedLists = new WeakMap<Result, Map<RevisionFacts, Result>>()

/** Encodes a result for the client's revision. List results are cached, because they recur. */
export function encodeResult(
  server: ServerDefinition,
  method: string,
  result: Result,
  revision: RevisionFacts,
  facts: MethodFacts,
): Result {
  if (!facts.cacheable) return encodeUncached(server, method, result, revision, facts)
  let byRevision = encodedLists.get(result)
  if (!byRevision) {
    byRevision = new Map()
    encodedLists.set(result, byRevision)
  }
  let encoded = byRevision.get(revision)
  if (!encoded) {
    encoded = encodeUncached(server, method, result, revision, facts)
    byRevision.set(revision, encoded)
  }
  return encoded
}

function encodeUncached(
  server: ServerDefinition,
  method: string,
  result: Result,
  revision: RevisionFacts,
  facts: MethodFacts,
): Result {
  // Without what the client's revision does not define
  const degraded = server.degradeResult(method, result, revision)
  if (revision.era === 'legacy') return degraded
  // Written for speed: V8 is slow with computed names in literals, and with members that are
  // assigned after a spread
  const _meta: Meta = { ...degraded._meta }
  _meta[META_SERVER_INFO] = server.info
  const encoded: Result = { resultType: 'complete', _meta, ...degraded }
  // The spread overwrote `_meta` with the handler's own
  if (degraded._meta) encoded._meta = _meta
  encoded.resultType ??= 'complete'
  if (!facts.cacheable || encoded.resultType !== 'complete') return encoded
  const { ttlMs = server.cache.ttlMs, cacheScope = server.cache.cacheScope } = degraded
  return { ...encoded, ttlMs, cacheScope }
}

/**
 * Converts an exception to the error that the client receives, with the codes of its revision.
 *
 * @param report Receives errors whose details are withheld from the client, and an error when a
 * handler uses a reserved code, so that the author can choose another.
 */
export function encodeError(
  server: ServerDefinition,
  error: unknown,
  revision: RevisionFacts,
  report: (error: unknown) => void,
): ErrorObject {
  const { reservedCodes, resourceNotFound } = serverFacts(revision)
  const inputError = server.input.describeError(error, revision, report)
  if (inputError) return inputError
  if (!(error instanceof ProtocolError)) report(error)
  const errorObject = toErrorObject(error)
  const { code } = errorObject
  const isReserved = code >= -32099 && code <= -32000
  if (code === RESOURCE_NOT_FOUND) {
    errorObject.code = resourceNotFound
  } else if (
    isReserved &&
    reservedCodes?.includes(code) === false &&
    // A rate limiter may use the code from a draft of the protocol
    retryAfterMsOf(errorObject) === undefined
  ) {
    const message = `The protocol reserves the error code ${code}: use one outside -32768 to -32000`
    report(new TypeError(message, { cause: error }))
    errorObject.code = INTERNAL_ERROR
  }
  return errorObject
}
