/**
 * Signing in with the user's own browser and a redirect to a local port. Deno and Bun also run this module,
 * through their Node compatibility.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#communication-security
 */
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LoopbackHost, LoopbackOptions } from '#internal/authorization'
import type { AuthorizationFlow } from '../../src/authorization/index.ts'

/**
 * Signs users in with their own browser: pass the result to `signIn` as `interaction`. On Deno, the
 * program needs `--allow-net=127.0.0.1` (also `[::1]` if the host name is `localhost`), and `--allow-run`
 * for the program that opens the browser. The URL of the sign-in page is always printed too.
 *
 * @example
 * ```ts
 * import { signIn } from 'edgewise/authorization'
 * import { connect } from 'edgewise/client'
 * import { loopback } from 'edgewise/node'
 *
 * const auth = signIn({ client: { name: 'My program' }, interaction: loopback() })
 * await using client = await connect('https://example.com/mcp', { auth })
 * ```
 *
 * @throws {TypeError} If `hostname` is not a loopback name or address.
 * @see https://www.rfc-editor.org/rfc/rfc8252#section-7.3
 */
export function loopback(options: LoopbackOptions = {}): AuthorizationFlow {
  return {
    // Loaded on demand, so that programs without sign-in do not load it
    async begin(registeredUri) {
      const { createLoopbackFlow } = await import('#internal/authorization')
      return createLoopbackFlow(loopbackHost, options).begin(registeredUri)
    },
  }
}

/** What the loopback flow needs from the platform: a listener, and a way to open the browser. */
export const loopbackHost: LoopbackHost = {
  os: process.platform,
  async listen(port, answer, address) {
    const { createServer } = await import('node:http')
    const http = createServer((incoming, response) => {
      const request = readRequest(incoming)
      const webResponse = request ? answer(request) : new Response(null, { status: 400 })
      response.writeHead(webResponse.status, Object.fromEntries(webResponse.headers))
      void webResponse.text().then((text) => response.end(text))
    })
    await new Promise<void>((resolve, reject) => {
      http.on('error', reject).listen(port, address, resolve)
    })
    return {
      port: (http.address() as AddressInfo).port,
      close() {
        http.close()
        http.closeIdleConnections()
      },
    }
  },
  async run(command, args) {
    const { spawn } = await import('node:child_process')
    const child = spawn(command, args, { stdio: 'ignore', detached: true })
    child.unref()
    await new Promise<void>((resolve, reject) => {
      child.on('error', reject).on('exit', (code) => {
        if (code === 0) resolve()
        else reject(new Error(`"${command}" ended with ${code ?? 'a signal'}`))
      })
    })
  },
}

/** Converts a request to a Web request. Returns `undefined` if it is invalid: any program may send to the port. */
function readRequest({ url = '', method = '', headers }: IncomingMessage): Request | undefined {
  try {
    return new Request(`http://${headers.host ?? '127.0.0.1'}${url}`, { method })
  } catch {
    return undefined
  }
}
