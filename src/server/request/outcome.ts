/**
 * What one run of a method comes to.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import type { ReplayInput } from '../../patterns/replay.ts'
import type { ProtocolError } from '../../protocol/errors.ts'
import type { Result } from '../../protocol/types.ts'

/** What one run of a method comes to: its result, or what it needs from the client first. */
export type Outcome = Result | Suspension

/** Why a run has no result yet. */
export type SuspensionReason =
  /** The handler asked through its context. What it returned or threw does not count. */
  | { readonly by: 'questions'; readonly replay: ReplayInput }
  /** The handler returned an `input_required` result of its own. */
  | { readonly by: 'result'; readonly result: Result }
  /** The user has to visit pages first: `URL_ELICITATION_REQUIRED` was thrown. */
  | { readonly by: 'urls'; readonly error: ProtocolError }

/** A run that needs something from the client before there is a result. */
export class Suspension {
  readonly reason: SuspensionReason

  constructor(reason: SuspensionReason) {
    this.reason = reason
  }
}
