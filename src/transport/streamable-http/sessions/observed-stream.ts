/**
 * Reports to the server's observer the streams that clients open in sessions. Each stream is an operation.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import { COMPLETE } from '../../../patterns/guard-observer.ts'
import type { Revision } from '../../../protocol/revisions.ts'
import type { ServerObservation } from '../../../server/observer.ts'
import type { HandlerHooks } from '../options.ts'

/** Opens the connection of a stream. */
export type ConnectStream = NonNullable<HandlerHooks['connectStream']>

/** Returns a function that opens streams, and reports them to the server's observer, if there is one. */
export function observeStreams(
  connect: ConnectStream,
  observe: ServerObservation | undefined,
  facts: { readonly revision: Revision; readonly principal: string | undefined },
): ConnectStream {
  if (!observe) return connect
  return (stream, options) => {
    const ongoing = observe.begin({ ...facts, type: 'stream', http: true })
    const { sink, response } = connect(stream, {
      ...options,
      onDisconnect(reason) {
        options.onDisconnect?.(reason)
        ongoing.end({ outcome: 'cancelled' })
      },
    })
    const observedSink: typeof sink = {
      get open() {
        return sink.open
      },
      send: (event) => sink.send(event),
      close() {
        sink.close()
        ongoing.end(COMPLETE)
      },
    }
    return { sink: observedSink, response }
  }
}
