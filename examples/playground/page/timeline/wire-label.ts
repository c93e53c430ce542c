/**
 * The labels of messages on the wire. A request has its method as label, and a response that of its request.
 *
 * @see https://www.jsonrpc.org/specification
 */
import { isObject } from 'edgewise/browser'

/** The direction of a message. */
export type Direction = 'sent' | 'received'

/** The text of a row before it is expanded. */
export interface Label {
  /** The method, or the HTTP status line if the body is not a message. */
  title: string
  /** The tool, prompt or resource that the message refers to. */
  about?: string | undefined
  /** The outcome of a request, for a response. */
  outcome?: string
  /** Whether the outcome is an error. */
  failed?: boolean
  /** The time from the request to the response, in milliseconds. */
  tookMs?: number | undefined
}

/** A request without a response so far. */
type PendingRequest = Label & { start: number }

/** Creates a function that labels messages in the order of their transfer. It returns `undefined` for other bodies. */
export function labels(): (direction: Direction, body: unknown) => Label | undefined {
  // The client and the server number their requests independently
  const pending = {
    sent: new Map<unknown, PendingRequest>(),
    received: new Map<unknown, PendingRequest>(),
  }
  return (direction, body) => {
    if (Array.isArray(body)) return { title: `Batch of ${body.length}` }
    if (!isObject(body)) return undefined
    const { id, method, params, result } = body
    if (typeof method === 'string') {
      const label = { title: method, about: subjectOf(params) }
      if (id !== undefined) pending[direction].set(id, { ...label, start: performance.now() })
      return label
    }
    if (!('result' in body || 'error' in body)) return undefined
    const requests = pending[direction === 'sent' ? 'received' : 'sent']
    const request = requests.get(id)
    requests.delete(id)
    const { outcome, failed } = outcomeOf(body, result)
    if (!request) return { title: outcome, failed }
    const { start, ...label } = request
    return { ...label, outcome, failed, tookMs: performance.now() - start }
  }
}

/** Returns the tool, prompt or resource that params name. Params of a completion name it in `ref`. */
function subjectOf(params: unknown): string | undefined {
  if (!isObject(params)) return undefined
  const { name, uri, ref } = params
  return [name, uri].find((each) => typeof each === 'string') ?? subjectOf(ref)
}

function outcomeOf(body: object, result: unknown): { outcome: string; failed: boolean } {
  if ('error' in body) return { outcome: 'error', failed: true }
  if (!isObject(result)) return { outcome: 'result', failed: false }
  if (result['isError'] === true) return { outcome: 'tool error', failed: true }
  const wantsInput = result['resultType'] === 'input_required'
  return { outcome: wantsInput ? 'input required' : 'result', failed: false }
}
