/** What calls cost a server in another process, many at once. */
import autocannon from 'autocannon'
import type { Cost } from './compare.ts'
import { costOf } from './cpu.ts'
import type { Template } from './requests.ts'

/** One call over and over, from eight connections of autocannon. */
export function costOfCalls(
  name: string,
  pid: number | undefined,
  url: string,
  { headers, body }: Template,
  amount: number,
): Promise<Cost> {
  return costOf(pid, async () => {
    const { requests, non2xx, errors } = await autocannon({
      url,
      method: 'POST',
      headers,
      body: body(1),
      connections: 8,
      amount,
      // Milliseconds between looks at whether it is done.
      sampleInt: 5,
    })
    if (non2xx + errors > 0) throw new Error(`"${name}" failed ${non2xx + errors} requests`)
    return requests.total
  })
}

/** The lanes of work that takes several calls, one after the other in each. */
const LANES = 4

/** Work that takes several calls, over and over. */
export function costOfWork(
  pid: number | undefined,
  one: () => Promise<void>,
  amount: number,
): Promise<Cost> {
  const lane = async (): Promise<void> => {
    for (let n = 0; n < amount / LANES; n++) await one()
  }
  return costOf(pid, async () => {
    await Promise.all(Array.from({ length: LANES }, lane))
    return amount
  })
}
