// Finds a port for programs that must know their address before they listen.
import { createServer } from 'node:net'

// Below the ephemeral ports, so that the system does not assign the port to another process.
// Programs that run at the same time start the search at different ports.
const LOWEST_PORT = 10_000
const PORT_COUNT = 20_000
let nextOffset = process.pid * 31

/** Returns a free TCP port of this machine. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST_PORT + (nextOffset++ % PORT_COUNT)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
      .on('error', () => resolve(false))
      .listen(port, () => probe.close(() => resolve(true)))
  })
}
