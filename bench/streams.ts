/** Large results and streamed responses through the fetch handler, in process. */
import { type Bench, ratioTable } from './bench.ts'
import { measureFetch } from './fetch.ts'

export const bench: Bench = {
  title: 'Large and streamed answers, in process (time over the floor’s)',
  tables: async ({ scale }) => {
    const options = { generations: 1, rounds: Math.ceil(6 * scale), warmupMs: 600 }
    // mcp-lite sends progress only to clients that do not accept JSON
    const streaming = { ...options, without: ['mcp-lite'] as const }
    return [
      ratioTable(
        '1 MB result',
        'ratio ≤ 1.25',
        await measureFetch('large', ['stateless', 'session'], options),
      ),
      ratioTable(
        '1,000 progress notifications',
        'ratio ≤ 1.35',
        await measureFetch('progress', ['modern'], streaming),
      ),
      ratioTable(
        '200 streams at once',
        'ratio ≤ 1.5',
        await measureFetch('concurrent', ['modern'], streaming),
      ),
    ]
  },
}
