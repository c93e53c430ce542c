/**
 * The outcome of one run of a method.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import type { ReplayInput } from '../../patterns/replay.ts'
import type { ProtocolError } from '../../protocol/errors.ts'
import type { Result } from '../../protocol/types.ts'

/** How a run of a method ends: with a result, or suspended because input is needed first. */
export type Outcome = Result | Suspension

/** Why a run has no result yet. */
export type SuspensionReason =
  /** The handler asked for input through its context. Its return value or exception is ignored. */
  | { readonly kind: 'questions'; readonly replay: ReplayInput }
  /** The handler itself returned an `input_required` result. */
  | { readonly kind: 'result'; readonly result: Result }
  /** The user must visit pages first: `URL_ELICITATION_REQUIRED` was thrown. */
  | { readonly kind: 'urls'; readonly error: ProtocolError }

/** The end of a run that needs input from the client before there is a result. */
export class Suspension {
  readonly reason: SuspensionReason

  constructor(reason: SuspensionReason) {
    this.reason = reason
  }
}
