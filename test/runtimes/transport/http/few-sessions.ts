// A server that takes few sessions, on whichever runtime runs this. Prints where it listens.
import { createServer, statefulSessions } from '../../../../src/presets/server.ts'

const server = createServer({ name: 's', version: '1' })
const sessions = statefulSessions({ maxSessions: 6, maxSessionsPerCaller: 2 })
const runtime = 'Deno' in globalThis ? 'deno' : 'Bun' in globalThis ? 'bun' : 'node'
const { serve } = await import(`../../../../runtimes/${runtime}/index.ts`)
const { url } = await serve(server, { sessions })
console.log(url)
