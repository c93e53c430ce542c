/** Processor time of other processes, where the system tells (Linux). */
import { readdirSync, readFileSync } from 'node:fs'
import type { Cost } from './compare.ts'

/**
 * Processor time that the living threads of a process have had, in microseconds.
 *
 * @returns undefined where `/proc` does not tell
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
 * What one call takes that another process answers: by the clock, and of its processor time where that
 * can be known.
 *
 * @param work makes calls, and gives how many
 */
export async function costOf(pid: number | undefined, work: () => Promise<number>): Promise<Cost> {
  const [cpu, from] = [cpuUsOf(pid), performance.now()]
  const calls = await work()
  const [after, to] = [cpuUsOf(pid), performance.now()]
  return {
    wallUs: ((to - from) * 1000) / calls,
    ...(cpu !== undefined && after !== undefined && { cpuUs: (after - cpu) / calls }),
  }
}

/** Ids of this process's children; empty where `/proc` does not tell. */
export function children(): Set<number> {
  try {
    const text = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
    return new Set(text.split(' ').filter(Boolean).map(Number))
  } catch {
    return new Set()
  }
}
