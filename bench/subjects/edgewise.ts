/** Edgewise over fetch. */
import { createHandler, keptSessions, type HandlerOptions } from 'edgewise/server'
import type { Handler, HttpSubject, ToolSet } from '../subject.ts'
import { createEdgewise } from './edgewise-server.ts'

const serve =
  (options?: HandlerOptions) =>
  (set: ToolSet): Handler =>
    createHandler(createEdgewise(set), options)

export const subject: HttpSubject = {
  session: serve({ sessions: keptSessions() }),
  stateless: serve(),
  modern: serve(),
}
