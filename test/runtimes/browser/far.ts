// A server at another origin than the pages', which counts who listens to it over HTTP.
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeListener } from 'edgewise/node'
import { createHandler, statefulSessions, type Server } from 'edgewise/server'

/** A server that pages of every origin may call. */
export interface Far {
  readonly url: string
  /** How many listening streams are open. */
  streams(): number
  stop(): void
}

/** Serves a server to pages of every origin. */
export async function startFar(server: Server): Promise<Far> {
  const answer = toNodeListener(
    createHandler(server, { allowedOrigins: '*', sessions: statefulSessions() }),
  )
  let streams = 0
  const http = createHttpServer((request, response) => {
    const { method, headers } = request
    if (method === 'GET' || headers['mcp-method'] === 'subscriptions/listen') {
      streams++
      response.on('close', () => streams--)
    }
    answer(request, response)
  })
  await new Promise<void>((resolve) => {
    http.listen(0, resolve)
  })
  return {
    url: `http://localhost:${(http.address() as AddressInfo).port}/mcp`,
    streams: () => streams,
    stop() {
      http.close()
      http.closeAllConnections()
    },
  }
}
