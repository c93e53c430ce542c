/**
 * The timeline of a server: its requests and their responses, notifications, questions, log messages, HTTP exchanges
 * and sign-ins.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import type { Fetch, LoggingLevel } from 'edgewise/browser'
import type { ClientMiddleware } from 'edgewise/client'
import { el } from '../dom.ts'
import type { Settings } from '../settings/settings.ts'
import type { SignInStep } from '../sign-in/steps.ts'
import type { Store } from '../store.ts'
import { observedFetch, type ObserveHooks } from './observe.ts'
import { now, type SessionRecord } from './record.ts'
import { recordUnanswered } from './unanswered.ts'

/** The timeline of a server. */
export interface Timeline {
  readonly element: HTMLElement
  /** Records the requests that a client sends with this `fetch`. Call it once for each client. */
  observe(send: Fetch, hooks?: ObserveHooks): Fetch
  /** Records the questions of a client that end without an answer. It must be the first extension of the client. */
  readonly unanswered: ClientMiddleware
  /** Adds a message of the page, or shows it in the row of the last call of a tool. */
  notice(level: LoggingLevel, text: string, tool?: string): void
  /** Marks a change of the connection. */
  mark(text: string, failed?: boolean): void
  /** Scrolls to the newest entry. */
  showNewest(): void
  /** Begins a check, whose requests are folded in one row with this title. */
  beginCheck(title: string): RunningCheck
  /** Adds a step of signing in. A step with the same id replaces it. */
  signInStep(step: SignInStep): void
}

/** A check that is running. */
export interface RunningCheck {
  /** Records the requests that a client of the check sends with this `fetch`. Call it once for each client. */
  observe(send: Fetch): Fetch
  /** Ends the check. */
  end(outcome: string, failed: boolean): void
}

/** Creates the timeline of a server. */
export function createTimeline({ settings }: { readonly settings: Store<Settings> }): Timeline {
  const element = el('div', { class: 'timeline' })
  const secrets = new Set<string>()
  const sessionIds = new Set<string>()
  let lastExchange = 0
  let lastClient = 0
  let lastCheck = 0
  const waiting: SessionRecord[] = []
  let add = (record: SessionRecord): void => void waiting.push(record)
  let showNewest = (): void => {}

  // Loaded separately, so that the rest of the page does not wait for it
  void import('./view.ts').then(({ fillTimeline }) => {
    ;({ add, showNewest } = fillTimeline(element, settings, { secrets, sessionIds }))
    waiting.forEach(add)
  })

  const sink = {
    add: (record: SessionRecord) => add(record),
    nextExchange: () => ++lastExchange,
    secrets,
    sessionIds,
  }
  return {
    element,
    observe: (send, hooks = {}) => observedFetch(sink, ++lastClient, send, hooks),
    unanswered: recordUnanswered((record) => add(record)),
    notice: (level, text, tool) => add({ type: 'notice', at: now(), level, text, tool }),
    showNewest: () => showNewest(),
    mark: (text, failed) => add({ type: 'mark', at: now(), text, ...(failed && { failed }) }),
    beginCheck(text) {
      const check = ++lastCheck
      add({ type: 'mark', at: now(), text, check })
      return {
        observe: (send) => observedFetch(sink, ++lastClient, send, {}, check),
        end(outcome, failed) {
          add({ type: 'mark', at: now(), text: `${text} ended`, check, outcome, failed })
        },
      }
    },
    // The time of a step is that of its beginning, and that of a record is when it was made
    signInStep: ({ at, tookMs = 0, ...step }) =>
      add({ ...step, type: 'step', at: at.getTime() + tookMs }),
  }
}
