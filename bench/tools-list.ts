/** `tools/list` with a hundred zod tools through the fetch handler, in process. */
import { type Bench, ratioTable } from './bench.ts'
import { measureFetch } from './fetch.ts'

export const bench: Bench = {
  title: 'tools/list with 100 tools, in process (time over the floor’s)',
  tables: async ({ scale }) => {
    const options = { generations: 1, rounds: Math.ceil(10 * scale) }
    return [
      ratioTable(
        'legacy',
        'ratio ≤ 1.2',
        await measureFetch('list', ['stateless', 'session'], options),
      ),
      ratioTable('modern', 'ratio ≤ 1.2', await measureFetch('list', ['modern'], options)),
    ]
  },
}
