/**
 * What a message is about, and how a request ended, in a few words.
 *
 * @see https://www.jsonrpc.org/specification
 */
import { isObject } from 'edgewise/browser'

/** The maximum length of a label, in characters. */
const MAX_LENGTH = 300

/** Returns what params are about: a tool, a prompt, a resource, a question, the message of a progress. */
export function subjectOf(params: unknown): string | undefined {
  if (!isObject(params)) return undefined
  const { name, uri, ref, message, level, taskId } = params
  const text = [name, uri, message, level, taskId].find((each) => typeof each === 'string')
  return text === undefined ? subjectOf(ref) : shorten(text)
}

/** How a request ended. */
export interface Ending {
  outcome: string
  failed: boolean
}

/** Describes a response, by its result or its error. */
export function endingOf(response: { [member: string]: unknown }): Ending {
  const { error, result } = response
  if (error !== undefined) {
    const { code, message } = isObject(error) ? error : {}
    const parts = [
      'error',
      typeof code === 'number' && code,
      typeof message === 'string' && message,
    ]
    return { outcome: shorten(parts.filter(Boolean).join(' ')), failed: true }
  }
  if (!isObject(result)) return { outcome: 'result', failed: false }
  if (result['isError'] === true) return { outcome: 'tool error', failed: true }
  if (result['resultType'] === 'input_required') return { outcome: 'input required', failed: false }
  if (result['resultType'] === 'task') return { outcome: 'task', failed: false }
  return taskStateOf(result) ?? { outcome: 'result', failed: false }
}

/** Returns the state of the task that an object describes; `undefined` if it describes none. */
export function taskStateOf({ taskId, status }: { [name: string]: unknown }): Ending | undefined {
  if (typeof taskId !== 'string' || typeof status !== 'string') return undefined
  return { outcome: status, failed: status === 'failed' }
}

/** The error code of a request that the user rejected. */
const USER_REJECTED = -1

const actions = new Map<unknown, string>([
  ['decline', 'declined'],
  ['cancel', 'cancelled'],
])

/** Describes how a question ended that received no response, by the code of the error. */
export function unansweredEnding(code: string): Ending {
  switch (code) {
    case 'DENIED':
      return { outcome: 'declined', failed: false }
    case 'ABORTED':
      return { outcome: 'cancelled', failed: false }
    case 'TIMEOUT':
      return { outcome: 'timed out', failed: true }
    case 'CLOSED':
    case 'NETWORK':
    case 'SESSION_LOST':
      return { outcome: 'connection lost', failed: true }
    default:
      return { outcome: 'not answered', failed: true }
  }
}

/** Describes the response to a question. */
export function answerEndingOf(response: { [member: string]: unknown }): Ending {
  const { error, result } = response
  const isDeclined = isObject(error) && error['code'] === USER_REJECTED
  if (error !== undefined && !isDeclined) return endingOf(response)
  const { action } = isDeclined ? { action: 'decline' } : isObject(result) ? result : {}
  return { outcome: actions.get(action) ?? 'answered', failed: false }
}

/** Shows the data of a log message in one line. */
export function lineOf(data: unknown): string {
  return shorten(typeof data === 'string' ? data : (JSON.stringify(data) ?? ''))
}

/** Shows a progress: its message, or how much is done. */
export function progressOf({ progress, total, message }: { [name: string]: unknown }): string {
  const done = String(progress)
  const amount = typeof total === 'number' ? `${done} of ${total}` : done
  return typeof message === 'string' ? `${amount}: ${shorten(message)}` : amount
}

function shorten(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text
}
