/**
 * What a message on the wire is called: a request by its method, an answer by what it answers.
 *
 * @see https://www.jsonrpc.org/specification
 */
import { isObject } from 'edgewise/browser'

/** Which way a message goes. */
export type Direction = 'sent' | 'received'

/** What a row says before it is unfolded. */
export interface Label {
  /** A method, or the HTTP line of what is no message. */
  title: string
  /** The tool, prompt or resource that it is about. */
  about?: string | undefined
  /** What an answer is. */
  outcome?: string
  /** Whether the outcome is an error. */
  failed?: boolean
  /** How long the answer took, in milliseconds. */
  tookMs?: number | undefined
}

/** A request that waits for its answer. */
type Asked = Label & { start: number }

/** Labels messages in the order in which they pass; `undefined` for anything else. */
export function labels(): (direction: Direction, body: unknown) => Label | undefined {
  // Each side numbers its own requests.
  const asked = { sent: new Map<unknown, Asked>(), received: new Map<unknown, Asked>() }
  return (direction, body) => {
    if (Array.isArray(body)) return { title: `Batch of ${body.length}` }
    if (!isObject(body)) return undefined
    const { id, method, params, result } = body
    if (typeof method === 'string') {
      const label = { title: method, about: subjectOf(params) }
      if (id !== undefined) asked[direction].set(id, { ...label, start: performance.now() })
      return label
    }
    if (!('result' in body || 'error' in body)) return undefined
    const requests = asked[direction === 'sent' ? 'received' : 'sent']
    const request = requests.get(id)
    requests.delete(id)
    const { outcome, failed } = outcomeOf(body, result)
    if (!request) return { title: outcome, failed }
    const { start, ...label } = request
    return { ...label, outcome, failed, tookMs: performance.now() - start }
  }
}

/** The tool, prompt or resource that parameters name; a completion names it in its `ref`. */
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
