/**
 * Who listens and to what, on its way to the hub, and in the attachment of a listener's socket.
 */
import type { SubscribeOptions } from '#internal/http'
import type { ServerChange } from '../../src/presets/server.ts'

/** The filter of a listener; `resources: true` where its URIs are too many to be attached. */
interface Wish {
  readonly tools: boolean
  readonly prompts: boolean
  readonly lists: boolean
  readonly resources: readonly string[] | boolean
}

/** The stream of a session that belongs to no request. */
export interface SessionWish {
  readonly session: string
  /** Whether the stream begins with an event that only carries an id. */
  readonly primed?: boolean | undefined
  /** Whether its client cannot come back, as with HTTP+SSE. */
  readonly plain?: boolean | undefined
  /** The last event that the client got, when it comes back. */
  readonly after?: string | undefined
}

const HEADER_WISH = 'edgewise-wish'
/** From a session object to the Worker, and from there to the hub. */
const HEADER_SESSION = 'edgewise-session'
/** An attachment takes 2 KB at most. */
const MAX_CHARACTERS = 1500

/** The headers that tell the hub what a listener wants. */
export function wishHeaders({ filter }: SubscribeOptions): Record<string, string> {
  const uris = filter?.resourceSubscriptions ?? []
  const wish: Wish = {
    tools: filter?.toolsListChanged ?? false,
    prompts: filter?.promptsListChanged ?? false,
    lists: filter?.resourcesListChanged ?? false,
    resources: uris,
  }
  const text = encodeURIComponent(JSON.stringify(wish))
  if (text.length <= MAX_CHARACTERS) return { [HEADER_WISH]: text }
  return { [HEADER_WISH]: encodeURIComponent(JSON.stringify({ ...wish, resources: true })) }
}

/** The headers that name the stream of a session. */
export function sessionHeaders(wish: SessionWish): Record<string, string> {
  return { [HEADER_SESSION]: encodeURIComponent(JSON.stringify(wish)) }
}

/** The stream of a session, if it is one that is asked for. */
export function readSession(headers: Headers): SessionWish | undefined {
  const text = headers.get(HEADER_SESSION)
  return text === null ? undefined : (JSON.parse(decodeURIComponent(text)) as SessionWish)
}

/** What a listener wants, in the hub. */
export function readWish(headers: Headers): unknown {
  return JSON.parse(decodeURIComponent(headers.get(HEADER_WISH) ?? '{}'))
}

/** Whether a listener may want to hear of a change; it looks closer itself. */
export function wants(attachment: unknown, change: ServerChange): boolean {
  const { tools, prompts, lists, resources } = attachment as Wish
  switch (change.method) {
    case 'notifications/elicitation/complete':
      return false
    case 'notifications/tools/list_changed':
      return tools
    case 'notifications/prompts/list_changed':
      return prompts
    case 'notifications/resources/list_changed':
      return lists
    case 'notifications/resources/updated':
      if (typeof resources === 'boolean') return resources
      return resources.some((uri) => change.uri.startsWith(uri))
  }
}
