/** `tools/list` with a hundred zod tools through the fetch handler, in process. */
import type { Bench } from './bench.ts'
import { measureFetch } from './fetch.ts'

export const bench: Bench = {
  title: 'tools/list with 100 tools, in process (time over the floor’s)',
  tables: async ({ scale }) => {
    const options = { generations: 1, rounds: Math.ceil(10 * scale) }
    return [
      {
        label: 'legacy',
        goal: 'ratio ≤ 1.2',
        rows: await measureFetch('list', ['stateless', 'session'], options),
      },
      {
        label: 'modern',
        goal: 'ratio ≤ 1.2',
        rows: await measureFetch('list', ['modern'], options),
      },
    ]
  },
}
