/** The other end of a server over stdio framing: writes any text, and keeps what comes back. */
import type { ServeTransportOptions } from '../../src/server/serve-transport.ts'
import type { ClientCapabilities, JsonObject } from '../../src/index.ts'
import { serveTransport, type Server } from '../../src/presets/server.ts'
import { stdioTransport } from '../../src/transport/stdio/stdio.ts'
import { PATIENCE } from '../patience.ts'

/** A message as the peer sees it. */
export type Raw = JsonObject & { id?: unknown; method?: unknown; result?: unknown; error?: unknown }

/** The other end of a server. */
export interface RawPeer extends AsyncDisposable {
  readonly got: readonly Raw[]
  /** Writes text as it is. */
  write(text: string): Promise<void>
  /** Writes one message. */
  send(message: JsonObject): Promise<void>
  initialize(capabilities?: ClientCapabilities, protocolVersion?: string): Promise<Raw>
  /** The first message that is so. */
  until(is: (message: Raw) => boolean): Promise<Raw>
}

/** Serves on a pair of streams. */
export async function rawPeer(server: Server, options?: ServeTransportOptions): Promise<RawPeer> {
  const input = new TransformStream<Uint8Array, Uint8Array>(undefined, { highWaterMark: 100 })
  const got: Raw[] = []
  let changed = (): void => {}
  let rest = ''
  const decoder = new TextDecoder()
  const output = new WritableStream<Uint8Array>({
    write(chunk) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      got.push(...lines.map((line) => JSON.parse(line) as Raw))
      changed()
    },
  })
  const served = serveTransport(server, stdioTransport(input.readable, output), options)
  const writer = input.writable.getWriter()
  const peer: RawPeer = {
    got,
    write: (text) => writer.write(new TextEncoder().encode(text)),
    send: (message) => peer.write(`${JSON.stringify(message)}\n`),
    async initialize(capabilities = {}, protocolVersion = '2025-11-25') {
      const clientInfo = { name: 'c', version: '1' }
      const params = { protocolVersion, capabilities, clientInfo }
      await peer.send({ jsonrpc: '2.0', id: 'init', method: 'initialize', params })
      const answer = await peer.until(({ id }) => id === 'init')
      await peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
      return answer
    },
    async until(is) {
      const timeout = AbortSignal.timeout(PATIENCE.timeout)
      for (;;) {
        const found = got.find(is)
        if (found) return found
        await new Promise<void>((resolve, reject) => {
          changed = resolve
          timeout.onabort = () => reject(new Error(`Not among ${JSON.stringify(got)}`))
          if (timeout.aborted) reject(new Error(`Not among ${JSON.stringify(got)}`))
        })
      }
    },
    async [Symbol.asyncDispose]() {
      await writer.close()
      await served
    },
  }
  return peer
}
