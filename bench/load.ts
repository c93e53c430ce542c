/** The cost of concurrent calls to a server in another process. */
import autocannon from 'autocannon'
import type { Cost } from './compare.ts'
import { costOf } from './cpu.ts'
import type { Template } from './requests.ts'

/** Repeats one call over connections of autocannon. */
export function costOfCalls(
  name: string,
  pid: number | undefined,
  url: string,
  { headers, body }: Template,
  amount: number,
  connections = 8,
): Promise<Cost> {
  return costOf(pid, async () => {
    const sleepAgain = stayAwake()
    const { requests, non2xx, errors } = await autocannon({
      url,
      method: 'POST',
      headers,
      body: body(1),
      connections,
      amount,
      // The interval at which completion is checked, in milliseconds.
      sampleInt: 5,
    })
    sleepAgain()
    if (non2xx + errors > 0) throw new Error(`"${name}" failed ${non2xx + errors} requests`)
    return requests.total
  })
}

/** How many multi-call operations run concurrently; the calls of each are sequential. */
const LANES = 4

/** Repeats operations that take several calls. */
export function costOfWork(
  pid: number | undefined,
  operation: () => Promise<void>,
  amount: number,
): Promise<Cost> {
  const lane = async (): Promise<void> => {
    for (let n = 0; n < amount / LANES; n++) await operation()
  }
  return costOf(pid, async () => {
    await Promise.all(Array.from({ length: LANES }, lane))
    return amount
  })
}

/**
 * Keeps this process from sleeping until the returned function is called. The kernel charges the wake-up
 * of a process to the one that sends to it, so a server that is slower than its load would pay for
 * wake-ups that a faster one is spared.
 */
function stayAwake(): () => void {
  let next = setImmediate(function again() {
    next = setImmediate(again)
  })
  return () => clearImmediate(next)
}
