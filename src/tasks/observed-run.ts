/**
 * Reports the runs of tasks to the server's observer. Each run is an operation.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import { whenCancelled } from '../patterns/cancellation.ts'
import { resultEnd, runObserved, targetOf } from '../patterns/guard-observer.ts'
import type { JsonRpcRequest } from '../protocol/types.ts'
import type { ServerObservation } from '../server/observer.ts'
import type { Exchange } from '../server/request/exchange.ts'
import { Suspension, type Outcome } from '../server/request/outcome.ts'

/** Runs the handler of a task, and reports the run to the observer. */
export function observeRun(
  observe: ServerObservation,
  { revision, caller, cancellation }: Exchange,
  { id, method, params }: JsonRpcRequest,
  run: () => Awaitable<Outcome>,
): Promise<Outcome> {
  const ongoing = observe.begin({
    type: 'task',
    taskId: String(id),
    method,
    name: targetOf(params).name,
    isKnown: true,
    revision: revision.version,
    principal: caller.principal,
    params: () => params,
  })
  whenCancelled(cancellation, () => ongoing.end({ outcome: 'cancelled' }))
  return runObserved(ongoing, run, (outcome) => {
    if (cancellation.cancelled) return { outcome: 'cancelled' }
    return outcome instanceof Suspension ? { outcome: 'input_required' } : resultEnd(outcome)
  })
}
