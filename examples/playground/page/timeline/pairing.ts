/**
 * Pairs the messages of one client: requests with their responses, progress with its request, and questions with
 * their answers. In 2026-07-28, a result asks the questions, and the repeated request answers them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { isObject } from 'edgewise/browser'
import { addPart, end, type Entry, type NewEntry } from './entry.ts'
import {
  answerEndingOf,
  endingOf,
  lineOf,
  progressOf,
  subjectOf,
  taskStateOf,
  unansweredEnding,
} from './label.ts'
import { isResponse, type Message } from './messages.ts'
import type { UnansweredRecord } from './record.ts'
import { isLevel } from './levels.ts'

/** How a request ended whose response did not come in time. */
export const TIMED_OUT = 'timed out'

/** Whether a request asks for the revisions of a server. Servers of older revisions reject it, which is no fault. */
export function isDiscovery({ title, direction }: Entry): boolean {
  return title === 'server/discover' && direction === 'sent'
}

/** Pairs messages in the order of their transfer. */
export interface Pairing {
  /** Adds a message that the client sent, and returns the entry that it belongs to. */
  send(message: Message, at: number): Entry
  /**
   * Adds a message that the client received.
   *
   * @param carriers The entries of the HTTP request in whose response it arrived.
   */
  receive(message: Message, at: number, carriers: readonly Entry[]): void
  /** Ends a question that was not answered, or all open questions of a call that failed. */
  endQuestions(record: UnansweredRecord): void
}

/** A question that is open. */
interface OpenQuestion {
  entry: Entry
  request: Message
  /** The request of the client that it belongs to. For a question of a task, the call that began the task. */
  call: Entry | undefined
  /** The state of the request, or the id of the task, that asks, if a repeated request answers the question. */
  scope?: unknown
  key?: string
}

const isOpen = ({ entry }: OpenQuestion): boolean => entry.end === undefined

/** Creates the pairing of a client. */
export function createPairing(
  create: (entry: NewEntry) => Entry,
  change: (entry: Entry) => void,
): Pairing {
  /** The requests without a response, by id. The client and the server number theirs independently. */
  const sent = new Map<unknown, Entry>()
  const received = new Map<unknown, Entry>()
  const byProgressToken = new Map<unknown, Entry>()
  let questions: OpenQuestion[] = []
  /** The calls that began tasks, by the ids of the tasks. */
  const calls = new Map<unknown, Entry>()
  /** The questions of tasks that were asked, because each poll repeats them. */
  const askedByTasks = new Set<string>()

  function answer(entry: Entry, message: Message, at: number): void {
    const direction = entry.direction === 'sent' ? 'received' : 'sent'
    const ending = entry.kind === 'question' ? answerEndingOf(message) : endingOf(message)
    if (ending.failed && isDiscovery(entry)) {
      Object.assign(ending, { outcome: `not supported: ${ending.outcome}`, failed: false })
    }
    const body = { json: message }
    const { failed } = ending
    addPart(entry, {
      at,
      title: 'Response',
      note: ending.outcome,
      failed,
      direction,
      body,
      isMain: true,
    })
    end(entry, at, ending.outcome, ending.failed)
    change(entry)
  }

  /** Adds a response that belongs to no known request. */
  function orphan(message: Message, at: number, direction: Entry['direction']): Entry {
    const { outcome, failed } = endingOf(message)
    const title = `Response ${JSON.stringify(message['id'] ?? null)}`
    const about = 'to an unknown request'
    const entry = create({ kind: 'request', title, about, direction, start: at })
    addPart(entry, { at, title: 'Response', body: { json: message }, isMain: true })
    end(entry, at, outcome, failed)
    return entry
  }

  function cancel(requests: ReadonlyMap<unknown, Entry>, params: unknown, at: number): void {
    const entry = isObject(params) ? requests.get(params['requestId']) : undefined
    if (!entry || entry.end !== undefined) return
    const reason = isObject(params) && String(params['reason'])
    if (reason && / timed out/.test(reason)) end(entry, at, TIMED_OUT, true)
    else end(entry, at, 'cancelled')
    change(entry)
  }

  function sendRequest(message: Message, at: number): Entry {
    const { id, params } = message
    const title = String(message['method'])
    const earlier = sent.get(id)
    if (earlier?.title === title && earlier.end !== undefined) {
      // The same request again, for example after signing in
      Object.assign(earlier, { end: undefined, outcome: undefined, failed: false, level: 'info' })
      change(earlier)
      return earlier
    }
    const entry = create({
      kind: 'request',
      title,
      about: subjectOf(params),
      direction: 'sent',
      start: at,
      isStream: title === 'subscriptions/listen',
    })
    addPart(entry, {
      at,
      title: 'Request',
      direction: 'sent',
      body: { json: message },
      isMain: true,
    })
    sent.set(id, entry)
    if (!isObject(params)) return entry
    const { _meta: meta, inputResponses, requestState, taskId } = params
    if (isObject(meta) && meta['progressToken'] !== undefined) {
      byProgressToken.set(meta['progressToken'], entry)
    }
    if (isObject(inputResponses)) answerQuestions(inputResponses, requestState ?? taskId, at)
    return entry
  }

  function answerQuestions(responses: object, scope: unknown, at: number): void {
    for (const [key, response] of Object.entries(responses)) {
      const question = questions.find(
        (each) => isOpen(each) && each.key === key && each.scope === scope,
      )
      if (!question) continue
      answer(question.entry, { result: response }, at)
    }
  }

  /** Adds the questions that a result asks. */
  function ask(result: unknown, at: number, parent: Entry): void {
    if (!isObject(result) || !isObject(result['inputRequests'])) return
    const { inputRequests, requestState, taskId } = result
    for (const [key, request] of Object.entries(inputRequests)) {
      if (!isObject(request)) continue
      const asked = JSON.stringify([taskId, key])
      if (taskId !== undefined && askedByTasks.has(asked)) continue
      askedByTasks.add(asked)
      const scope = { scope: requestState ?? taskId, key }
      question(request, at, parent, { ...scope, call: calls.get(taskId) ?? parent })
    }
  }

  function endQuestions({ at, method, params, code }: UnansweredRecord): void {
    questions = questions.filter(isOpen)
    const text = JSON.stringify(params)
    const asked = questions.find(({ request }) => {
      return request['method'] === method && JSON.stringify(request['params'] ?? {}) === text
    })
    const ofCall = questions.filter(({ call }) => {
      return call?.title === method && call.about === subjectOf(params)
    })
    for (const { entry } of asked ? [asked] : ofCall) {
      const { outcome, failed } = unansweredEnding(code)
      end(entry, at, outcome, failed)
      change(entry)
    }
  }

  function question(
    request: Message,
    at: number,
    parent: Entry | undefined,
    others: Partial<OpenQuestion> = {},
  ): Entry {
    const { method, params } = request
    const title = String(method)
    const entry = create({
      kind: method === 'ping' ? 'request' : 'question',
      title,
      about: subjectOf(params),
      direction: 'received',
      start: at,
      ...(parent && { parent }),
    })
    const body = { json: request }
    addPart(entry, { at, title: 'Request', direction: 'received', body, isMain: true })
    questions = questions.filter(isOpen)
    questions.push({ entry, request, call: parent, ...others })
    return entry
  }

  function receiveResponse(message: Message, at: number, carriers: readonly Entry[]): void {
    const { id, result } = message
    // The id is missing if the server could not read that of the request
    const only = carriers.length === 1 && carriers[0]?.kind === 'request' ? carriers[0] : undefined
    const entry = sent.get(id) ?? (id === undefined || id === null ? only : undefined)
    if (!entry) return void orphan(message, at, 'received')
    sent.delete(id)
    answer(entry, message, at)
    const { taskId } = isObject(result) ? result : {}
    if (taskId !== undefined && entry.title === 'tools/call') calls.set(taskId, entry)
    ask(result, at, entry)
  }

  function receiveNotification(message: Message, at: number, parent: Entry | undefined): void {
    const { method, params } = message
    if (method === 'notifications/cancelled') cancel(received, params, at)
    const body = { json: message }
    const values = isObject(params) ? params : {}
    if (method === 'notifications/progress') {
      const entry = byProgressToken.get(values['progressToken'])
      if (entry) {
        const note = progressOf(values)
        addPart(entry, { at, title: 'Progress', note, direction: 'received', body })
        return change(entry)
      }
    }
    const common = { direction: 'received', start: at, end: at, ...(parent && { parent }) } as const
    const { level, logger, data } = values
    const entry =
      method === 'notifications/message'
        ? create({
            ...common,
            kind: 'log',
            title: lineOf(data),
            level: isLevel(level) ? level : 'info',
            about: typeof logger === 'string' ? logger : undefined,
          })
        : create({
            ...common,
            kind: 'notification',
            title: String(method),
            about: subjectOf(params),
          })
    const state = taskStateOf(values)
    if (state) end(entry, at, state.outcome, state.failed)
    addPart(entry, { at, title: 'Notification', direction: 'received', body, isMain: true })
  }

  return {
    endQuestions,
    send(message, at) {
      const { id, method, params } = message
      if (isResponse(message)) {
        const entry = received.get(id)
        if (!entry) return orphan(message, at, 'sent')
        received.delete(id)
        answer(entry, message, at)
        return entry
      }
      if (id !== undefined) return sendRequest(message, at)
      if (method === 'notifications/cancelled') cancel(sent, params, at)
      const entry = create({
        kind: 'notification',
        title: String(method),
        about: subjectOf(params),
        direction: 'sent',
        start: at,
      })
      const body = { json: message }
      addPart(entry, { at, title: 'Notification', direction: 'sent', body, isMain: true })
      return entry
    },
    receive(message, at, carriers) {
      if (isResponse(message)) return receiveResponse(message, at, carriers)
      const parent = carriers.find(({ kind, isStream }) => kind === 'request' && !isStream)
      if (message['id'] === undefined) return receiveNotification(message, at, parent)
      const entry = question(message, at, parent)
      received.set(message['id'], entry)
      if (parent)
        addPart(parent, { at, title: entry.title, note: entry.about ?? '', direction: 'received' })
    },
  }
}
