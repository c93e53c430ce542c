/** Large results and streamed answers through the fetch handler, in process. */
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
        'none set',
        await measureFetch('large', ['stateless', 'session'], options),
      ),
      ratioTable(
        '1,000 progress notifications',
        'none set',
        await measureFetch('progress', ['modern'], streaming),
      ),
      ratioTable(
        '200 streams at once',
        'none set',
        await measureFetch('concurrent', ['modern'], streaming),
      ),
    ]
  },
}
