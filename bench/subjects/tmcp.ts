/** tmcp over fetch, as its documentation shows. */
import { HttpTransport } from '@tmcp/transport-http'
import type { Handler, HttpSubject, ToolSet } from '../subject.ts'
import { createServer } from './tmcp-server.ts'

function serve(set: ToolSet): Handler {
  const transport = new HttpTransport(createServer(set), { path: '/mcp', allowedOrigins: [] })
  return async (request) =>
    (await transport.respond(request)) ?? new Response(null, { status: 404 })
}

export const subject: HttpSubject = { session: serve, modern: serve }
