/** `tools/call` of one echo tool through the fetch handler, in process. */
import { type Bench, ratioTable, type Table } from './bench.ts'
import { measureFetch } from './fetch.ts'
import { subjects, type SubjectName } from './subjects/index.ts'

const WAYS = ['stateless', 'session', 'modern'] as const

const others = (Object.keys(subjects) as SubjectName[]).filter(
  (name) => name !== 'floor' && name !== 'edgewise',
)

export const bench: Bench = {
  title: 'tools/call through the fetch handler, in process (time over the floor’s)',
  tables: async ({ scale }) => {
    const options = { generations: Math.ceil(3 * scale), rounds: Math.ceil(40 * scale) }
    const tables: Table[] = []
    for (const way of WAYS) {
      const measured = await measureFetch('echo', [way], {
        ...options,
        sentLength: 'without length',
      })
      tables.push(ratioTable(way, 'ratio ≤ 1.08', measured))
    }
    for (const way of WAYS) {
      const measured = await measureFetch('echo', [way], { ...options, without: others })
      tables.push(ratioTable(`${way}, with Content-Length`, 'none', measured))
    }
    return tables
  },
}
