/**
 * The features that every server of the peer tests offers and every client uses.
 *
 * - tool `greet` `{ name }`: answers at once
 * - tool `count` `{ to, pauseMs }`: reports progress 1 … `to`, each followed by the pause, then answers
 * - tool `book` `{ city }`: elicits `{ confirm: boolean }`, then answers with what was chosen
 * - resource `memo://welcome`
 * - prompt `review` `{ topic }`
 */

/** How `book` asks. */
export const question = (city: string): string => `Book a trip to ${city}?`

/** How `book` answers. */
export const booked = (city: string, confirmed: boolean): string =>
  confirmed ? `Booked ${city}` : `Not booked: ${city}`

export const greeting = (name: string): string => `Hello, ${name}!`

export const counted = (to: number): string => `Counted to ${to}`

export const memo = { uri: 'memo://welcome', name: 'welcome', text: 'Welcome to the peers' }

export const reviewOf = (topic: string): string => `Review ${topic} with care`

/** The era that a client speaks: the handshake with sessions, or per-request metadata. */
export type Era = 'legacy' | 'modern'

/** The revision that the newest peers agree on in each era. */
export const newest = { legacy: '2025-11-25', modern: '2026-07-28' } as const

/** Where a server is. */
export type Target =
  | { readonly url: string }
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly pipe: Pipe }

/** A transport that the official SDKs take, of either version. */
export interface Pipe {
  start(): Promise<void>
  send(message: object): Promise<void>
  close(): Promise<void>
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: object) => void
  setProtocolVersion?: (version: string) => void
}

/** The command of a target that is a program. */
export function commandOf(target: Target): { command: string; args: string[] } {
  if (!('command' in target)) throw new TypeError('The target is no program')
  return { command: target.command, args: [...target.args] }
}

/** A client of any SDK, connected, reduced to what the peer tests do. */
export interface PeerClient extends AsyncDisposable {
  /** The revision that the two sides agreed on. */
  readonly revision: string | undefined
  /** The name by which the server presents itself. */
  readonly serverName: string | undefined
  /** The messages of the elicitations that were asked, each accepted with `{ confirm: true }`. */
  readonly asked: readonly string[]
  /** Whether it loses progress that arrives in one read with the result, as the official ones do. */
  readonly dropsLateProgress: boolean
  listTools(): Promise<string[]>
  listResources(): Promise<string[]>
  listPrompts(): Promise<string[]>
  /** The text of the first content block, and the progress that was reported meanwhile. */
  callTool(
    name: string,
    args: Record<string, unknown>,
  ): Promise<{ text: string; progress: number[] }>
  readResource(uri: string): Promise<string>
  getPrompt(name: string, args: Record<string, string>): Promise<string>
}

/** Takes the text out of a content block or resource content of any SDK. */
export function textOf(content: unknown): string {
  if (typeof content === 'object' && content && 'text' in content) return String(content.text)
  throw new TypeError(`No text in ${JSON.stringify(content)}`)
}

/** Lets a client read a message before the next is sent. */
export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
