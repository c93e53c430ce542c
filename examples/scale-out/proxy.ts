// A load balancer without sticky sessions, as small as possible: each request goes to the next server.
import {
  Agent,
  createServer,
  request,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A running proxy. */
export interface Proxy {
  /** The address, without a path. */
  readonly origin: string
  close(): Promise<void>
}

/** Starts a proxy on a free port. Requests that no server has received go to the one after it. */
export async function startProxy(origins: readonly string[]): Promise<Proxy> {
  const agent = new Agent()
  let turn = 0
  const proxy = createServer((incoming, outgoing) => {
    void buffer(incoming).then(
      (body) => {
        const first = turn++ % origins.length
        const inOrder = [...origins.slice(first), ...origins.slice(0, first)]
        forward(incoming, body, outgoing, inOrder)
      },
      () => outgoing.destroy(),
    )
  })

  function forward(
    incoming: IncomingMessage,
    body: Buffer,
    outgoing: ServerResponse,
    [origin, ...others]: readonly string[],
  ): void {
    if (origin === undefined) return void outgoing.writeHead(502).end()
    const { method, url, headers } = incoming
    const options: RequestOptions = { agent, ...(method && { method }), headers }
    const forwarded = request(new URL(url ?? '/', origin), options, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      outgoing.flushHeaders()
      response.pipe(outgoing)
      // The server was killed: so that the client notices, its response must not look complete
      response.on('error', () => outgoing.destroy())
    })
    forwarded.on('error', (error: NodeJS.ErrnoException) => {
      const wasReceived = error.code !== 'ECONNREFUSED'
      if (outgoing.headersSent) outgoing.destroy()
      else forward(incoming, body, outgoing, wasReceived ? [] : others)
    })
    outgoing.on('close', () => forwarded.destroy())
    forwarded.end(body)
  }

  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        proxy.close(() => resolve())
        proxy.closeAllConnections()
      }),
  }
}
