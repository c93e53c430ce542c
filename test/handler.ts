/** Handlers that keep sessions, which most tests of the revisions before 2026-07-28 are about. */
import {
  createHandler,
  statefulSessions,
  type Handler,
  type HandlerOptions,
  type Server,
} from '../src/presets/server.ts'

/** Makes a handler that keeps sessions in memory. */
export function sessionHandler(server: Server, options: HandlerOptions = {}): Handler {
  return createHandler(server, { sessions: statefulSessions(), ...options })
}
