/** Records what an observer receives. */
import type { Observer, Operation, Outcome } from '../src/protocol/observation.ts'

/** An operation that has ended. */
export type Ended = Operation & Outcome

/** An observer, and the operations that it has received. */
export interface Recording {
  readonly observer: Observer
  /** In the order in which they began. */
  readonly begun: Operation[]
  /** In the order in which they ended. */
  readonly ended: Ended[]
}

/** Creates an observer that records all operations. */
export function recordOperations(): Recording {
  const begun: Operation[] = []
  const ended: Ended[] = []
  return {
    begun,
    ended,
    observer(operation) {
      begun.push(operation)
      return { end: (outcome) => ended.push({ ...operation, ...outcome }) }
    },
  }
}
