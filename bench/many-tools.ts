/** A server with 500 zod tools: the cost of creating it, and of listing its tools. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Bench } from './bench.ts'
import { buildForNode } from './build.ts'
import { spread } from './compare.ts'
import { servers } from './fetch.ts'
import type { Costs } from './many-tools-child.ts'

const COUNT = 500
const columns = ['start', 'first', 'next'] as const

async function measure(script: string, name: string, way: string): Promise<Costs> {
  const child = fork(script, [name, way, String(COUNT)], {
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const [costs] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`${name} (${way}) ended with ${code}`)
    }),
  ])
  child.kill()
  return costs as Costs
}

export const bench: Bench = {
  title: `${COUNT} zod tools: processor time of making the server and of listing them, in process`,
  tables: async ({ scale }) => {
    const script = await buildForNode('many-tools-child.ts')
    const contenders = [...(await servers(['stateless', 'session'])), ['official v1', 'session']]
    const costs = contenders.map((): Costs[] => [])
    for (let round = 0; round < Math.ceil(6 * scale); round++) {
      for (const [index, [name = '', way = '']] of contenders.entries()) {
        costs[index]?.push(await measure(script, name, way))
      }
    }
    const ms = costs.map((rounds) =>
      columns.map((column) => spread(rounds.map((each) => each[column])).median),
    )
    return [
      {
        label: `${COUNT} tools`,
        goal: 'list ≤ 1.2',
        head: [
          'set-up',
          ...['start ms', 'first list ms', 'list ms'].flatMap((title) => [title, 'ratio']),
        ],
        rows: contenders.map(([name = '', way = ''], row) => [
          name,
          way,
          ...columns.flatMap((_, column) => {
            const own = ms[row]?.[column] ?? Number.NaN
            return [own.toFixed(2), (own / (ms[0]?.[column] ?? Number.NaN)).toFixed(2)]
          }),
        ]),
        data: contenders.map(([name, way], row) => ({ name, way, rounds: costs[row] })),
      },
    ]
  },
}
