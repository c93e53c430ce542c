/**
 * The errors of the extension. Two sets of codes for them are in use.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { EVENTS_EXTENSION } from '../protocol/extension-ids.ts'
import type { JsonObject } from '../protocol/types.ts'
import { ExtensionError } from '../server/composition/extension-error.ts'
import type { Context } from '../server/request/context.ts'
import type { EventErrorKind } from './host.ts'

/** The kinds in the order of their codes. */
const KINDS: readonly EventErrorKind[] = [
  'NotFound',
  'Forbidden',
  'ResourceExhausted',
  'Unsupported',
  'CallbackEndpointError',
]

/**
 * The code of the first kind in each set: in the first draft of the extension (`sketch`), and in SEP-3415. The
 * code of each further kind is lower by one.
 */
const FIRST_CODE = { sketch: -32011, 'sep-3415': -32023 } as const

/** The name of a set of error codes, or codes of your own. */
export type EventErrorCodes =
  | keyof typeof FIRST_CODE
  | { readonly [Kind in EventErrorKind]: number }

/** An error of the extension. */
export class EventProtocolError extends ExtensionError {
  readonly kind: EventErrorKind
  declare readonly data: JsonObject

  /** @param codes By default `sketch`, the set that every client knows. */
  constructor(
    kind: EventErrorKind,
    message: string,
    data: JsonObject,
    codes: EventErrorCodes = 'sketch',
  ) {
    super(codeOf(kind, codes), message, data)
    this.kind = kind
  }
}

/** The error for event types that do not exist, or that the caller may not see. */
export function unknownType(name: string, codes?: EventErrorCodes): EventProtocolError {
  return new EventProtocolError(
    'NotFound',
    `Unknown event type: "${name}"`,
    { kind: 'event' },
    codes,
  )
}

/**
 * Converts an error for a client. If the client declares the extension, the error gets its code of SEP-3415.
 * Otherwise it is returned unchanged.
 */
export function forClient(error: unknown, ctx: Pick<Context, 'extension'>): unknown {
  if (!(error instanceof EventProtocolError) || !ctx.extension(EVENTS_EXTENSION)) return error
  return new EventProtocolError(error.kind, error.message, error.data, 'sep-3415')
}

/** @throws {TypeError} If a code is missing. */
export function requireCodes(codes: EventErrorCodes): void {
  if (KINDS.every((kind) => Number.isInteger(codeOf(kind, codes)))) return
  throw new TypeError('"errorCodes" must be "sketch", "sep-3415", or have a number for each error')
}

function codeOf(kind: EventErrorKind, codes: EventErrorCodes): number {
  return typeof codes === 'string' ? FIRST_CODE[codes] - KINDS.indexOf(kind) : codes[kind]
}
