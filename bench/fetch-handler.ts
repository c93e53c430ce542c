/** `tools/call` of one echo tool through the fetch handler, in process. */
import { type Bench, ratioTable } from './bench.ts'
import { measureFetch } from './fetch.ts'

export const bench: Bench = {
  title: 'tools/call through the fetch handler, in process (time over the floor’s)',
  tables: async ({ scale }) => {
    const options = { generations: 2, rounds: Math.ceil(60 * scale) }
    return [
      ratioTable(
        'legacy',
        'ratio ≤ 1.08',
        await measureFetch('echo', ['stateless', 'session'], options),
      ),
      ratioTable('modern', 'ratio ≤ 1.08', await measureFetch('echo', ['modern'], options)),
    ]
  },
}
