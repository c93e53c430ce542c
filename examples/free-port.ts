// A port for what must know its own address before it listens.
import { createServer } from 'node:net'

// Below those that systems give to who asks for any, so that nobody takes one in the meantime;
// programs that run at the same time begin at different ones.
const LOWEST = 10_000
const COUNT = 20_000
let next = process.pid * 31

/** A TCP port of this machine on which nobody listens. */
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
