/**
 * MCP between unrelated pages and workers of one origin, over a broadcast channel. One page or worker serves,
 * and any number of others connect. Every page of the origin can read the messages.
 *
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#broadcasting-to-other-browsing-contexts
 */
import type { ChannelCallbacks, MessagePortOptions } from '#internal/ports'
import {
  channelTransport,
  type MessageChannelLike,
  type Transport,
} from '../../src/transport/index.ts'

/** Settings of connections over a broadcast channel. */
export type BroadcastOptions = Omit<MessagePortOptions, 'format' | 'handshake'>

/** The maximum number of clients that are served on one channel. */
const MAX_CLIENTS = 1_000

/** The maximum length of the id of a sender. */
const MAX_ID_CHARACTERS = 64

/**
 * A message between one client and the server. The message names its receiver, because every page of the
 * origin receives every message.
 */
interface AddressedMessage {
  readonly edgewise: 'relay'
  /** The id of the sender. */
  readonly from: string
  /** The id of the receiver. A message without a receiver is for every server on the channel. */
  readonly to?: string | undefined
  readonly data: unknown
}

/**
 * Creates a transport to the server on a broadcast channel. If there are several servers, the first
 * server that answers is chosen. The transport may be started before the server.
 *
 * @param name The name of the channel.
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#broadcasting-to-other-browsing-contexts
 */
export function broadcastTransport(name: string, options?: BroadcastOptions): Transport {
  const id = crypto.getRandomValues(new Uint32Array(4)).join('-')
  let channel: BroadcastChannel | undefined
  let serverId: string | undefined
  const addressedChannel: MessageChannelLike = {
    shared: true,
    open({ message, unreadable }) {
      channel = new BroadcastChannel(name)
      channel.addEventListener('messageerror', unreadable)
      channel.addEventListener('message', ({ data }) => {
        // A server has joined the channel. When the transport receives this message, it sends its handshake again
        if (isListening(data)) return message(data)
        const addressed = readAddressed(data)
        if (addressed?.to !== id) return
        serverId ??= addressed.from
        if (addressed.from === serverId) message(addressed.data)
      })
    },
    post: (data) => channel?.postMessage({ edgewise: 'relay', from: id, to: serverId, data }),
    close: () => channel?.close(),
  }
  return channelTransport(addressedChannel, options)
}

/**
 * Accepts every client that connects with {@link broadcastTransport}.
 *
 * @param onConnection Called with a transport for each client. The function must start the transport immediately.
 * @returns A function that leaves the channel and thereby ends all connections.
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#broadcasting-to-other-browsing-contexts
 */
export function acceptBroadcasts(
  name: string,
  onConnection: (transport: Transport) => unknown,
  options?: BroadcastOptions,
): () => void {
  const id = crypto.getRandomValues(new Uint32Array(4)).join('-')
  const channel = new BroadcastChannel(name)
  /** The callbacks of each client's transport, by the id of the client. */
  const callbacksByClient = new Map<string, ChannelCallbacks>()
  const acceptClient = (clientId: string): void => {
    let callbacks: ChannelCallbacks | undefined
    onConnection(
      channelTransport(
        {
          shared: true,
          open(channelCallbacks) {
            callbacks = channelCallbacks
            callbacksByClient.set(clientId, channelCallbacks)
          },
          post: (data) => channel.postMessage({ edgewise: 'relay', from: id, to: clientId, data }),
          close: () => {
            // The same client may have connected again in the meantime
            if (callbacksByClient.get(clientId) === callbacks) callbacksByClient.delete(clientId)
          },
        },
        options,
      ),
    )
  }
  channel.addEventListener('message', ({ data }) => {
    const addressed = readAddressed(data)
    if (!addressed || (addressed.to !== undefined && addressed.to !== id)) return
    const mayAccept = !callbacksByClient.has(addressed.from) && callbacksByClient.size < MAX_CLIENTS
    if (mayAccept && isHandshake(addressed.data)) acceptClient(addressed.from)
    callbacksByClient.get(addressed.from)?.message(addressed.data)
  })
  channel.postMessage({ edgewise: 'listening' })
  return () => {
    for (const { closed } of callbacksByClient.values()) closed()
    channel.close()
  }
}

/** The kind of a message of Edgewise; `undefined` for any other message. */
function kindOf(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'edgewise' in data ? data.edgewise : undefined
}

/** Whether a message announces that a server has joined the channel. */
function isListening(data: unknown): boolean {
  return kindOf(data) === 'listening'
}

/** Whether a message is the handshake with which a client begins a connection. */
function isHandshake(data: unknown): boolean {
  return kindOf(data) === 'open'
}

/** Reads a message between a client and the server; `undefined` if the message has another form. */
function readAddressed(data: unknown): AddressedMessage | undefined {
  if (kindOf(data) !== 'relay') return undefined
  const { from, to } = data as Record<string, unknown>
  const hasSender = typeof from === 'string' && from.length <= MAX_ID_CHARACTERS
  return hasSender && (to === undefined || typeof to === 'string')
    ? (data as AddressedMessage)
    : undefined
}
