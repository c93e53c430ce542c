/** `tools/call` of one echo tool through the fetch handler, in process. */
import type { Bench } from './bench.ts'
import { measureFetch } from './fetch.ts'

export const bench: Bench = {
  title: 'tools/call through the fetch handler, in process (time over the floor’s)',
  tables: async ({ scale }) => {
    const options = { generations: 2, rounds: Math.ceil(50 * scale) }
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
