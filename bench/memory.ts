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
    kind: 'sessions',
    perSample: 5000,
    sampleCount: 4,
  },
  { label: 'calls, one session', goal: 'flat', kind: 'calls', perSample: 25_000, sampleCount: 4 },
] as const

async function heapMb(script: string, kind: string, perSample: number, sampleCount: number) {
  const child = fork(script, [name, kind, String(perSample), String(sampleCount)], {
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
    for (const { label, goal, kind, perSample, sampleCount } of soaks) {
      const step = Math.ceil(perSample * Math.min(1, scale))
      const mb = await heapMb(script, kind, step, sampleCount)
      tables.push({
        label,
        goal,
        head: ['', ...Array.from({ length: sampleCount }, (_, sample) => `${(sample + 1) * step}`)],
        rows: [[name, '', ...mb.map((value) => value.toFixed(1))]],
        data: { name, step, mb },
      })
    }
    return tables
  },
}
