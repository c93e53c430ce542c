/** Measures every subject that can run a scenario over fetch. */
import { buildForNode } from './build.ts'
import { compare, type Contender, type Measured } from './compare.ts'
import { forkContender } from './fork.ts'
import type { ScenarioName } from './scenarios.ts'
import type { Way } from './subject.ts'
import { type SubjectName, subjects } from './subjects/index.ts'

/** Every subject that serves in one of `ways`, the floor first. */
export async function servers(ways: readonly Way[]): Promise<[SubjectName, Way][]> {
  const found: [SubjectName, Way][] = []
  for (const name of Object.keys(subjects) as SubjectName[]) {
    const { subject } = await subjects[name]()
    for (const way of ways) if (subject[way]) found.push([name, way])
  }
  return found
}

/** Whether requests have a `Content-Length`, as from a client over HTTP, or not, as if created in process. */
export type SentLength = 'with length' | 'without length'

/** Runs `scenario` in process on every subject that serves in one of `ways`, each in its own Node process. */
export async function measureFetch(
  scenario: ScenarioName,
  ways: readonly Way[],
  options: {
    generations: number
    rounds: number
    without?: readonly SubjectName[]
    /** Default: `'with length'`. */
    sentLength?: SentLength
    warmupMs?: number
  },
): Promise<Measured[]> {
  const script = await buildForNode('fetch-child.ts')
  const rows = (await servers(ways)).filter(([name]) => !options.without?.includes(name))
  const start = async ([name, way]: [SubjectName, Way]): Promise<Contender> =>
    forkContender(name, script, [name, way, scenario, options.sentLength ?? 'with length'], {
      warmupMs: options.warmupMs ?? 2000,
      // Long enough for garbage to be collected in most rounds
      roundMs: 60,
    })
  return compare(async () => {
    const contenders: Contender[] = []
    for (const row of rows) contenders.push(await start(row))
    return contenders
  }, options)
}
