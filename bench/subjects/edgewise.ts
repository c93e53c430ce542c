/** Edgewise over fetch. */
import { createHandler } from 'edgewise/server'
import type { Handler, HttpSubject, ToolSet } from '../subject.ts'
import { createEdgewise } from './edgewise-server.ts'

const serve =
  (options?: { sessions: false }) =>
  (set: ToolSet): Handler =>
    createHandler(createEdgewise(set), options)

export const subject: HttpSubject = {
  session: serve(),
  stateless: serve({ sessions: false }),
  modern: serve(),
}
