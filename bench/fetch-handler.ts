/** `tools/call` of one echo tool through the fetch handler, in process. */
import type { Bench } from './bench.ts'
import { buildForNode } from './build.ts'
import { compare } from './compare.ts'
import { forkContender } from './fork.ts'
import type { ToolSet, Way } from './subject.ts'
import type { SubjectName } from './subjects/index.ts'
import { subjects } from './subjects/index.ts'

/** Measures every subject that serves one of `ways`, the first floor way being the base. */
export async function measureFetch(
  set: ToolSet,
  ways: [Way, ...Way[]],
  options: { generations: number; rounds: number },
) {
  const script = await buildForNode('fetch-child.ts')
  const rows: [SubjectName, Way][] = []
  for (const name of Object.keys(subjects) as SubjectName[]) {
    const { subject } = await subjects[name]()
    for (const way of ways) if (subject[way]) rows.push([name, way])
  }
  const timing = { warmupMs: 3000, roundMs: 40 }
  const [floor, ...rest] = rows
  if (!floor) throw new Error(`Nothing serves "${ways.join(', ')}"`)
  const start = ([name, way]: [SubjectName, Way]) =>
    forkContender(name, script, [name, way, set], timing)
  return compare(async () => {
    const base = await start(floor)
    const contenders = []
    for (const row of rest) contenders.push(await start(row))
    return [base, ...contenders]
  }, options)
}

export const bench: Bench = {
  title: 'tools/call through the fetch handler, in process (time over the floor’s)',
  tables: async ({ scale }) => {
    const options = { generations: 2, rounds: Math.ceil(15 * scale) }
    return [
      {
        label: 'legacy',
        goal: 'ratio ≤ 1.25',
        rows: await measureFetch('echo', ['stateless', 'session'], options),
      },
      {
        label: 'modern',
        goal: 'ratio ≤ 1.35',
        rows: await measureFetch('echo', ['modern'], options),
      },
    ]
  },
}
