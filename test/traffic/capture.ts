/** Keeps what two sides say to each other, and holds it against the published schemas. */
import type { Revision } from '../../src/index.ts'
import type { Handler } from '../../src/presets/server.ts'
import { inMemoryTransports } from '../../src/transport/in-memory.ts'
import type { Transport } from '../../src/protocol/transport.ts'
import { isObject } from '../../src/protocol/validate.ts'
import { checkMessage, type Direction } from '../schema/validator.ts'

/** One message, or one batch, and which way it went. */
export interface Captured {
  readonly direction: Direction
  readonly frame: unknown
}

/** Two connected transports, and what went over them. */
export function captureTransports(): { near: Transport; far: Transport; captured: Captured[] } {
  const captured: Captured[] = []
  const [inner, far] = inMemoryTransports()
  const near: Transport = {
    start: (receiver) =>
      inner.start({
        message(frame) {
          captured.push({ direction: 'server-to-client', frame })
          return receiver.message(frame)
        },
        malformed: (error) => receiver.malformed(error),
        closed: (reason) => receiver.closed(reason),
      }),
    send(frame) {
      captured.push({ direction: 'client-to-server', frame: JSON.parse(JSON.stringify(frame)) })
      return inner.send(frame)
    },
    close: () => inner.close(),
  }
  return { near, far, captured }
}

/** A `fetch` that asks a handler, and what went through it. */
export function captureFetch(handle: Handler): {
  fetch: (url: string, init: RequestInit) => Promise<Response>
  captured: Captured[]
} {
  const captured: Captured[] = []
  const take = (text: string): void => {
    captured.push({ direction: 'server-to-client', frame: JSON.parse(text) })
  }
  return {
    captured,
    async fetch(url, init) {
      if (typeof init.body === 'string') {
        captured.push({ direction: 'client-to-server', frame: JSON.parse(init.body) })
      }
      const response = await handle(new Request(url, init))
      if (!response.body) return response
      const events = response.headers.get('content-type') === 'text/event-stream'
      return new Response(response.body.pipeThrough(listen(events, take)), response)
    },
  }
}

/** Passes bytes on, and records the messages in them. */
function listen(
  events: boolean,
  take: (text: string) => void,
): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  let text = ''
  return new TransformStream({
    transform(bytes, controller) {
      text += decoder.decode(bytes, { stream: true })
      if (events) {
        const lines = text.split('\n')
        text = lines.pop() ?? ''
        for (const line of lines) if (/^data: ./.test(line)) take(line.slice(6))
      }
      controller.enqueue(bytes)
    },
    flush() {
      if (!events && text !== '') take(text)
    },
  })
}

/** What the schema of a revision says against everything that was captured. */
export function faultsIn(captured: readonly Captured[], revision: Revision): string[] {
  const methods: Record<Direction, Map<unknown, string>> = {
    'client-to-server': new Map(),
    'server-to-client': new Map(),
  }
  return captured.flatMap(({ direction, frame }) =>
    [frame].flat().flatMap((message: unknown) => {
      if (!isObject(message)) return ['no message']
      const { id, method } = message
      if (typeof method === 'string') methods[direction].set(id, method)
      const other = direction === 'client-to-server' ? 'server-to-client' : 'client-to-server'
      const asked = method === undefined ? methods[other].get(id) : undefined
      const faults = checkMessage(revision, direction, message, asked, { closed: true })
      return faults.map((fault) => `${direction} ${String(method ?? asked)}: ${fault}`)
    }),
  )
}

/** The methods that were captured in a direction, each once. */
export function methodsIn(captured: readonly Captured[], direction: Direction): string[] {
  const methods = captured
    .filter((one) => one.direction === direction)
    .flatMap(({ frame }) => frame as { method?: string })
    .flatMap(({ method }) => method ?? [])
  return [...new Set(methods)].toSorted()
}
