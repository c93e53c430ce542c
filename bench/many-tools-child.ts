/** Forked by the benchmark of many tools: creates one server, lists its tools, and reports the cost. */
import { handshake, template, url } from './requests.ts'
import type { Way } from './subject.ts'
import { subjects } from './subjects/index.ts'

/** CPU time in milliseconds. */
export interface Costs {
  /** Creating the tools and the server. */
  start: number
  /** The first `tools/list`. */
  first: number
  /** Each subsequent one. */
  next: number
}

const [name, way, count] = process.argv.slice(2) as [string, Way, string]
const load: Record<string, typeof subjects.floor> = {
  ...subjects,
  'official v1': () => import('./subjects/official-v1.ts'),
}
const loaded = await load[name]?.()
const FOLLOWING = 20

let since = process.cpuUsage()
const lap = (): number => {
  const { user, system } = process.cpuUsage(since)
  since = process.cpuUsage()
  return (user + system) / 1000
}
const handle = loaded?.subject[way]?.(Number(count))
const start = lap()
if (!handle) throw new Error(`"${name}" does not serve "${way}"`)
const legacy = way === 'modern' ? undefined : await handshake(handle)
const { headers, body } = template('tools/list', {}, legacy)
const list = async (id: number): Promise<void> => {
  const response = await handle(new Request(url, { method: 'POST', headers, body: body(id) }))
  const text = await response.text()
  if (!text.includes(`"search_${Number(count) - 1}"`)) throw new Error(`"${name}" answered ${text}`)
}
lap()
await list(0)
const first = lap()
for (let id = 1; id <= FOLLOWING; id++) await list(id)
process.send?.({ start, first, next: lap() / FOLLOWING } satisfies Costs)
