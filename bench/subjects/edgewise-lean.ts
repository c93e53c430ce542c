/** A lean server of Edgewise over fetch. */
import { createLeanHandler, createLeanServer } from 'edgewise/server'
import type { Handler, HttpSubject, ToolSet } from '../subject.ts'
import { offer } from './edgewise-server.ts'

function serve(set: ToolSet): Handler {
  const server = createLeanServer({ name: 'edgewise', version: '1.0.0' })
  offer(server, set)
  return createLeanHandler(server)
}

export const subject: HttpSubject = { stateless: serve, modern: serve }
