/** A tiny Edgewise server over fetch. */
import { createHandler, createServer } from 'edgewise/server/tiny'
import type { Handler, HttpSubject, ToolSet } from '../subject.ts'
import { offer } from './edgewise-server.ts'

function serve(set: ToolSet): Handler {
  const server = createServer({ name: 'edgewise', version: '1.0.0' })
  offer(server, set)
  return createHandler(server)
}

export const subject: HttpSubject = { stateless: serve, modern: serve }
