/**
 * The errors of `events/*`. Servers use different codes for the same error.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { ProtocolError, retryAfterMsOf } from '../../protocol/errors.ts'
import type { ErrorObject } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import type { EventErrorKind } from '../host.ts'

/** What an error of `events/*` means. Only `RateLimited` is always temporary. */
export type EventFailure = EventErrorKind | 'InvalidParams' | 'RateLimited'

/**
 * The kinds of errors by code: a code of JSON-RPC, the codes of the first draft, which deployed servers use, and
 * the codes of SEP-3415.
 */
const KINDS: Readonly<Record<number, EventFailure>> = {
  // The keys are literals, because bundlers cannot remove an unused object with computed keys
  '-32602': 'InvalidParams',
  '-32011': 'NotFound',
  '-32012': 'Forbidden',
  '-32013': 'ResourceExhausted',
  '-32014': 'Unsupported',
  '-32015': 'CallbackEndpointError',
  '-32023': 'NotFound',
  '-32024': 'Forbidden',
  '-32025': 'ResourceExhausted',
  '-32026': 'Unsupported',
  '-32027': 'CallbackEndpointError',
}

/** SEP-3415 uses this code for NotFound. Another proposal uses the same code for rate limits. */
const NOT_FOUND_OR_RATE_LIMITED = -32023

/** Matches the reasons of a `CallbackEndpointError`. */
const CALLBACK_REASON =
  /^(?:connection_refused|timeout|tls_error|http_4xx|http_5xx|challenge_failed)$/

/**
 * An error that a server sent for a subscription to events.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export class EventError extends ProtocolError {
  /** What the error means, for either set of codes; undefined if that is unknown. */
  readonly kind: EventFailure | undefined

  constructor(error: ErrorObject & { readonly status?: number | undefined }) {
    super(error.code, error.message, error.data)
    this.name = 'EventError'
    this.status = error.status
    this.kind = kindOf(error)
  }
}

/** Reads the error object in a notification or a webhook body. Without a valid code, the error has the code 0. */
export function readEventError(value: unknown): EventError {
  const { code, message, data } = isObject(value) ? value : {}
  return new EventError({
    code: Number.isInteger(code) ? Number(code) : 0,
    message: typeof message === 'string' ? message : 'The server gave no reason',
    data,
  })
}

/** Reads the kind from the code, or from `data` if the code is unknown or has several meanings. */
function kindOf({ code, data }: ErrorObject): EventFailure | undefined {
  if (code === NOT_FOUND_OR_RATE_LIMITED && retryAfterMsOf({ data }) !== undefined) {
    return 'RateLimited'
  }
  if (KINDS[code]) return KINDS[code]
  if (!isObject(data)) return undefined
  // Each kind of error has a different member in `data`
  if ('kind' in data) return 'NotFound'
  if ('limit' in data) return 'ResourceExhausted'
  if ('feature' in data) return 'Unsupported'
  return CALLBACK_REASON.test(String(data.reason)) ? 'CallbackEndpointError' : undefined
}
