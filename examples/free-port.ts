// A port for what must know its own address before it listens.
import { createServer } from 'node:net'

// Below the ephemeral ports, so that no other process takes one in the meantime;
// programs that run at the same time begin at different ones.
const LOWEST = 10_000
const COUNT = 20_000
let next = process.pid * 31

/** A free TCP port of this machine. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + (next++ % COUNT)
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
