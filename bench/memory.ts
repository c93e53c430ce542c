/** Whether memory stays flat: sessions that clients abandon, and a long session. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Bench, Table } from './bench.ts'
import { buildForNode } from './build.ts'
import type { SubjectName } from './subjects/index.ts'

const name: SubjectName = 'edgewise'

/** What the child does, and how often between two heap samples. */
const soaks = [
  {
    label: 'sessions, dropped',
    goal: 'flat from the limit of 10,000 on',
    what: 'sessions',
    each: 5000,
    looks: 4,
  },
  { label: 'calls, one session', goal: 'flat', what: 'calls', each: 25_000, looks: 4 },
] as const

async function heapMb(script: string, what: string, each: number, looks: number) {
  const child = fork(script, [name, what, String(each), String(looks)], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const [mb] = await once(child, 'message')
  child.kill()
  return mb as number[]
}

export const bench: Bench = {
  title: 'Heap after garbage collection, in MB, over the one before the first',
  tables: async ({ scale }) => {
    const script = await buildForNode('memory-child.ts')
    const tables: Table[] = []
    for (const { label, goal, what, each, looks } of soaks) {
      const step = Math.ceil(each * Math.min(1, scale))
      const mb = await heapMb(script, what, step, looks)
      tables.push({
        label,
        goal,
        head: ['', ...Array.from({ length: looks }, (_, look) => `${(look + 1) * step}`)],
        rows: [[name, '', ...mb.map((value) => value.toFixed(1))]],
        data: { name, step, mb },
      })
    }
    return tables
  },
}
