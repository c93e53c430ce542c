/** Handlers that keep sessions, which most tests of the revisions before 2026-07-28 are about. */
import {
  createHandler,
  statefulSessions,
  type Handler,
  type HandlerOptions,
  type Server,
} from '../src/presets/server.ts'
import type { SessionProvider } from '../src/transport/streamable-http/sessions/manager.ts'

type MakeHandler = (server: Server, options?: HandlerOptions) => Handler

const inMemory: MakeHandler = (server, options) =>
  createHandler(server, { sessions: statefulSessions(), ...options })
let make = inMemory

/** Makes a handler that keeps sessions in memory, or where tests have them kept. */
export function sessionHandler(server: Server, options: HandlerOptions = {}): Handler {
  return make(server, options)
}

/** Has {@link sessionHandler} make other handlers; the ones with sessions in memory again by default. */
export function keepSessions(by: MakeHandler = inMemory): void {
  make = by
}

/** Lets another handler have the sessions, as a Worker lets its objects. */
export function sessionsOf(
  handle: Handler,
  onForward?: (sessionId: string) => void,
): SessionProvider {
  return () => ({
    allow: 'GET, POST, DELETE, OPTIONS',
    resolve({ request, caller, sessionId }) {
      if (sessionId === null) return new Response(null, { status: 400 })
      onForward?.(sessionId)
      return handle(request, caller)
    },
    open({ request, caller, text }) {
      const { url, method, headers } = request
      return handle(new Request(url, { method, headers, body: text }), caller)
    },
    close: async () => {},
  })
}
