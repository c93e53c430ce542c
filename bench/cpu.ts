/** CPU time of other processes, if the system provides it (Linux). */
import { readdirSync, readFileSync } from 'node:fs'
import type { Cost } from './compare.ts'

/**
 * The CPU time of the live threads of a process, in microseconds.
 *
 * @returns Undefined if `/proc` is not available.
 */
export function cpuUsOf(pid: number | undefined): number | undefined {
  try {
    let ns = 0
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    }
    return ns / 1000
  } catch {
    return undefined
  }
}

/**
 * The cost of one call that another process answers: wall time, and CPU time if available.
 *
 * @param work Makes calls and returns their number.
 */
export async function costOf(pid: number | undefined, work: () => Promise<number>): Promise<Cost> {
  const [cpuBefore, startedAt] = [cpuUsOf(pid), performance.now()]
  const calls = await work()
  const [cpuAfter, endedAt] = [cpuUsOf(pid), performance.now()]
  return {
    wallUs: ((endedAt - startedAt) * 1000) / calls,
    ...(cpuBefore !== undefined &&
      cpuAfter !== undefined && { cpuUs: (cpuAfter - cpuBefore) / calls }),
  }
}

/** The ids of this process's children; empty if `/proc` is not available. */
export function children(): Set<number> {
  try {
    const text = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
    return new Set(text.split(' ').filter(Boolean).map(Number))
  } catch {
    return new Set()
  }
}
