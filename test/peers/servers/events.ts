/** A server with an event type, whose tool emits. */
import * as z from 'zod'
import { events, streams } from '../../../src/events/index.ts'
import { createServer, type Server } from '../../../src/presets/server.ts'

/** Creates the server. */
export function createEventsServer(): Server {
  const server = createServer({ name: 'builds', version: '1' })
  const builds = events({ streams: streams({ heartbeatMs: 50 }) })
  const finished = builds.type('build.finished', {
    input: z.object({ project: z.string().optional() }),
    payload: z.object({ project: z.string(), n: z.number() }),
    matches: ({ project }, build) => project === undefined || project === build.project,
  })
  server.extend(builds)
  server.tool(
    'finish',
    { input: z.object({ project: z.string(), n: z.number() }) },
    async (build) => {
      await finished.emit(build, { eventId: `build_${build.n}` })
      return 'finished'
    },
  )
  return server
}
