/**
 * Describes which changes a stream receives: by the filter of a listener, or by the subscriptions of a
 * session. The description is sent to the hub in headers, and stored in the attachment of a socket. Do not
 * rename fields and headers, because Worker and objects may have different versions during a deployment.
 */
import type { SubscribeOptions, ServerChange } from '#internal/http'

/** The filter of a listener. */
interface SubscriptionFilter {
  /** Whether the listener wants changes of the list of tools. */
  readonly tools: boolean
  /** Whether the listener wants changes of the list of prompts. */
  readonly prompts: boolean
  /** Whether the listener wants changes of the lists of resources and templates. */
  readonly lists: boolean
  /** The URIs whose updates the listener wants; `true` if there are too many of them for an attachment. */
  readonly resources: readonly string[] | boolean
}

/** A request for the standalone stream of a session. */
export interface SessionStreamRequest {
  readonly session: string
  /** Whether the stream begins with an event that has an id and no message. */
  readonly primed?: boolean | undefined
  /** Whether the client cannot resume the stream, as with HTTP+SSE. */
  readonly plain?: boolean | undefined
  /** The id of the last event that the client received, if the client resumes the stream. */
  readonly after?: string | undefined
}

/** The header with the filter of a listener. */
const HEADER_FILTER = 'edgewise-wish'
/** The header with a {@link SessionStreamRequest}. A session object sends it to the Worker, which forwards it to the hub. */
const HEADER_SESSION = 'edgewise-session'
/** The maximum length of an encoded filter. An attachment has at most 2 KB. */
const MAX_FILTER_CHARACTERS = 1500

/** The filter of a listener that has none. The empty URI covers all URIs, because every URI begins with it. */
const EVERYTHING = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: [''],
}

/** Creates the headers with the filter of a listener, for the hub. */
export function filterHeaders({ filter = EVERYTHING }: SubscribeOptions): Record<string, string> {
  const uris = filter.resourceSubscriptions ?? []
  const wanted: SubscriptionFilter = {
    tools: filter.toolsListChanged ?? false,
    prompts: filter.promptsListChanged ?? false,
    lists: filter.resourcesListChanged ?? false,
    resources: uris,
  }
  const text = encodeURIComponent(JSON.stringify(wanted))
  if (text.length <= MAX_FILTER_CHARACTERS) return { [HEADER_FILTER]: text }
  return { [HEADER_FILTER]: encodeURIComponent(JSON.stringify({ ...wanted, resources: true })) }
}

/** Creates the headers with a request for the stream of a session. */
export function sessionStreamHeaders(request: SessionStreamRequest): Record<string, string> {
  return { [HEADER_SESSION]: encodeURIComponent(JSON.stringify(request)) }
}

/** Reads the request for the stream of a session from headers, if they contain one. */
export function readSessionStream(headers: Headers): SessionStreamRequest | undefined {
  const text = headers.get(HEADER_SESSION)
  return text === null ? undefined : (JSON.parse(decodeURIComponent(text)) as SessionStreamRequest)
}

/** Reads the filter of a listener. The hub calls this. */
export function readFilter(headers: Headers): unknown {
  return JSON.parse(decodeURIComponent(headers.get(HEADER_FILTER) ?? '{}'))
}

/**
 * Returns the topics of the filter in a socket's attachment: methods of list changes, and URIs. Returns
 * `undefined` if the updates of all resources may match.
 */
export function topicsOfFilter(attachment: unknown): string[] | undefined {
  const { tools, prompts, lists, resources } = attachment as SubscriptionFilter
  if (resources === true || (resources !== false && resources.includes(''))) return undefined
  const methods = Object.entries({ tools, prompts, resources: lists })
    .filter(([, isWanted]) => isWanted)
    .map(([list]) => `notifications/${list}/list_changed`)
  return resources === false ? methods : methods.concat(resources)
}

/** Whether a change may match the filter in a socket's attachment. The listener then checks the change exactly. */
export function mayMatch(attachment: unknown, change: ServerChange): boolean {
  const { tools, prompts, lists, resources } = attachment as SubscriptionFilter
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
