/**
 * A network that breaks: a proxy that drops every connection on request.
 */
import { connect, createServer, type Socket } from 'node:net'

/** A way to a server that can be broken. */
export interface Line extends AsyncDisposable {
  readonly url: string
  /** Breaks every connection; new ones can be made. */
  drop(): void
}

/** Stands in front of the server at a URL. */
export async function breakableLine(target: string): Promise<Line> {
  const url = new URL(target)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(url.port), url.hostname)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (!address || typeof address === 'string') throw new Error('The line has no port')
  const drop = (): void => sockets.forEach((socket) => socket.resetAndDestroy())
  return {
    url: `http://127.0.0.1:${address.port}${url.pathname}`,
    drop,
    async [Symbol.asyncDispose]() {
      drop()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
