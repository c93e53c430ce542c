/**
 * Shows what failed, why, and what to do about it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 */
import type { AuthorizationError } from 'edgewise/authorization'
import { SdkError } from 'edgewise/browser'
import { copyButton } from './copy.ts'
import { el } from './dom.ts'
import { jsonBlock } from './json.ts'
import { isLoadFailure, LOAD_FAILURE } from './reload.ts'
import type { Answer } from './timeline/observe.ts'

/** Everything that the page shows about a failure, wherever it shows it. */
export interface Explanation {
  /** What failed, in one line. */
  readonly headline: string
  /** Why it failed, as far as that is known. */
  readonly why?: string | undefined
  /** What to do, one sentence each. */
  readonly advice: readonly string[]
  /** Addresses that may be the right one. */
  readonly urls?: readonly string[]
  /** Lines to copy, such as headers. */
  readonly lines?: readonly string[]
  /** A command that tells which of several reasons is the right one. */
  readonly command?: string
  /** The data of the error. */
  readonly data?: unknown
}

/** What is known about a failure in addition to the error. */
export interface FailureContext {
  /** The last response of the server. */
  readonly lastAnswer?: Answer | undefined
  /** Whether requests had a bearer token or headers from the settings. */
  readonly hasCredentials?: boolean | undefined
  /** The endpoint, if it requires a session, but the page has received no id of one. */
  readonly lacksSession?: string | undefined
  /** Whether the arguments of the request have a schema. */
  readonly hasSchema?: boolean | undefined
  /** Whether the browser lets this page reach the local network. */
  readonly localNetwork?: PermissionState | undefined
}

/** Explains an error. The code for that is loaded on demand, and may be unreachable without a network. */
export async function explainError(error: unknown, context?: FailureContext): Promise<Explanation> {
  if (isLoadFailure(error)) return { headline: LOAD_FAILURE, advice: ['Reload the page.'] }
  try {
    const { explain } = await import('./errors.ts')
    return explain(error, context)
  } catch {
    return { headline: error instanceof Error ? error.message : String(error), advice: [] }
  }
}

/** Shows why something failed, and what to do; with the headline unless another element shows it. */
export function explanationBlock(
  { headline, why, advice, lines, command, data }: Explanation,
  showsHeadline = true,
): Node[] {
  return [
    ...(showsHeadline ? [el('p', { class: 'text' }, headline)] : []),
    ...(why === undefined ? [] : [el('p', { class: 'text' }, why)]),
    ...(lines === undefined ? [] : [linesBlock(lines.join('\n'))]),
    ...(advice.length > 0 ? [adviceList(advice)] : []),
    ...(command === undefined ? [] : [linesBlock(command)]),
    ...(data === undefined ? [] : [jsonBlock(data)]),
  ]
}

/** Shows an explanation as a card. */
export function failureCard(explanation: Explanation): HTMLElement {
  return el('div', { class: 'card failure' }, ...explanationBlock(explanation))
}

function linesBlock(text: string): HTMLElement {
  const copy = copyButton('Copy the lines', () => text)
  return el('div', { class: 'text-block' }, copy, el('pre', { class: 'lines' }, text))
}

function adviceList(advice: readonly string[]): HTMLElement {
  const [only, second] = advice
  if (only !== undefined && second === undefined) return el('p', { class: 'note' }, only)
  return el('ul', { class: 'bullets note' }, ...advice.map((each) => el('li', {}, each)))
}

/** Whether a sign-in failed. Tests the name, because the class is in the code of signing in, which is loaded on demand. */
export function isAuthorizationError(error: unknown): error is AuthorizationError {
  return error instanceof SdkError && error.name === 'AuthorizationError'
}
