/** One `tools/call` from a client to a server in the same process. */
import { type Bench, ratioTable } from './bench.ts'
import { buildForNode } from './build.ts'
import { compare } from './compare.ts'
import { forkContender } from './fork.ts'
import { subjects } from './subjects/in-memory.ts'

export const bench: Bench = {
  title: 'tools/call from client to server in memory (the floor is the bare call of the tool)',
  tables: async ({ scale }) => {
    const script = await buildForNode('in-memory-child.ts')
    const start = (name: string) =>
      forkContender(name, script, [name], { warmupMs: 3000, roundMs: 10 })
    return [
      ratioTable(
        'in memory',
        '≤ 15 µs',
        await compare(
          async () => {
            const floor = await start('floor')
            const contenders = []
            for (const name of Object.keys(subjects))
              if (name !== 'floor') contenders.push(await start(name))
            return [floor, ...contenders]
          },
          { generations: 2, rounds: Math.ceil(40 * scale) },
        ),
      ),
    ]
  },
}
