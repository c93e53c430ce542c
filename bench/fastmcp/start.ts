/** Starts the server of FastMCP, which opens its own port, as a program. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { freePort } from '../../examples/free-port.ts'
import type { StartedServer } from '../../test/peers/servers/probed.ts'
import { installPeer } from '../installed-peer.ts'

export async function startFastMcp(): Promise<StartedServer> {
  const cwd = installPeer('fastmcp')
  const port = await freePort()
  const program = spawn(process.execPath, ['--import', 'tsx', 'server.js', String(port)], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // FastMCP prints messages of its own
  for await (const line of createInterface(program.stdout)) if (line === 'listening') break
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    fetch: (request) => fetch(request),
    async [Symbol.asyncDispose]() {
      program.kill()
      await once(program, 'exit')
    },
  }
}
