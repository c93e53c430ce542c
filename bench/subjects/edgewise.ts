/** Edgewise over fetch. */
import { createHandler, statefulSessions, type HandlerOptions } from 'edgewise/server'
import type { Handler, HttpSubject, ToolSet } from '../subject.ts'
import { createEdgewise } from './edgewise-server.ts'

const serve =
  (options?: HandlerOptions) =>
  (set: ToolSet): Handler =>
    createHandler(createEdgewise(set), options)

export const subject: HttpSubject = {
  session: serve({ sessions: statefulSessions() }),
  stateless: serve(),
  modern: serve(),
}
