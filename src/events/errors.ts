/**
 * The errors of the extension, in the two sets of codes that clients know.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { EVENTS_EXTENSION } from '../protocol/extension-ids.ts'
import type { ProtocolError } from '../protocol/errors.ts'
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

/** The first code of each set; each further code is lower by one. */
const FIRST_CODE = { sketch: -32011, 'sep-3415': -32023 } as const

/** A set of error codes, or your own. */
export type EventErrorCodes =
  | keyof typeof FIRST_CODE
  | { readonly [Kind in EventErrorKind]: number }

/** An error of the extension before its code is known, which depends on the client. */
export interface EventFailure {
  readonly kind: EventErrorKind
  readonly message: string
  readonly data: JsonObject
}

/** Creates an error, with a code of the chosen set, or else of the set that the client knows. */
export function eventError(
  { kind, message, data }: EventFailure,
  codes: EventErrorCodes | undefined,
  ctx: Pick<Context, 'extension'> | undefined,
): ProtocolError {
  const set = codes ?? (ctx?.extension(EVENTS_EXTENSION) ? 'sep-3415' : 'sketch')
  const code = typeof set === 'string' ? FIRST_CODE[set] - KINDS.indexOf(kind) : set[kind]
  return new ExtensionError(code, message, data)
}
