/**
 * Computes the entries of the timeline from the records of a session. Works for all revisions and both HTTP
 * transports, because it follows only the messages and the HTTP exchanges.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { plainTimeout } from '../time.ts'
import { addPart, end, type Entry, type NewEntry, type Part } from './entry.ts'
import { messagesOf, type Message } from './messages.ts'
import { createPairing, isDiscovery, TIMED_OUT, type Pairing } from './pairing.ts'
import type {
  EndRecord,
  HeaderValues,
  MarkRecord,
  MessageRecord,
  NoticeRecord,
  RequestRecord,
  ResponseRecord,
  SessionRecord,
  StepRecord,
} from './record.ts'
import { summarizeTask, taskIdOf } from './task-group.ts'

/** Computes entries, record by record. */
export interface EntryBuilder {
  /** Adds a record, and returns the entries that it creates or changes. */
  add(record: SessionRecord): ReadonlySet<Entry>
  /** The numbers of the HTTP exchanges that are in progress. */
  openExchanges(): ReadonlySet<number>
  /** Begins new groups for later messages about tasks, because the entries of the present ones are removed. */
  endTaskGroups(): void
}

/** How a response of another origin is described that the browser does not let the page read. */
const UNREADABLE = 'answered, but not readable by the page'

/** What follows the headers of a response of another origin. */
const ONLY_EXPOSED = '# A page sees only the headers that “Access-Control-Expose-Headers” lists'

/** What a server says with 405 to a request for the stream of its messages. */
const NO_STREAM = 'no stream offered'

/** The maximum number of entries among which the one is searched for that a connection failed with. */
const MAX_RECENT = 50

/** How the response of an exchange in progress is described if it is a stream. */
const OPEN_STREAM = 'open stream'

/** An HTTP exchange in progress. */
interface Exchange {
  method: string
  pairing: Pairing
  part: Part
  /** The entries of the messages in its request. Without messages, the entry of the exchange itself. */
  entries: readonly Entry[]
  hasMessages: boolean
  /** Whether it asks a server for its revisions, which older servers reject. */
  isDiscovery: boolean
  status: number
  isStream: boolean
  /** The check that sent the request. */
  check: Entry | undefined
}

/** Creates a builder without entries. */
export function entryBuilder(): EntryBuilder {
  let lastId = 0
  let changed = new Set<Entry>()
  const exchanges = new Map<number, Exchange>()
  const pairings = new Map<number, Pairing>()
  const steps = new Map<number, Entry>()
  const checks = new Map<number, Entry>()
  /** The last calls, by the name of the tool. */
  const calls = new Map<string | undefined, Entry>()
  /** The groups of messages about tasks, by the ids of the tasks. */
  const tasks = new Map<string, Entry>()
  /** The entries since the last change of the connection. */
  let recent: Entry[] = []
  /** The group that the entries of the present record belong to. */
  let group: Entry | undefined

  function create(given: NewEntry): Entry {
    const entry: Entry = {
      ...(group && { group }),
      direction: undefined,
      failed: false,
      level: 'info',
      isStream: false,
      parts: [],
      omitted: 0,
      ...given,
      id: ++lastId,
    }
    changed.add(entry)
    if (!group) recent.push(entry)
    if (recent.length > MAX_RECENT) recent.shift()
    group?.members?.push(entry)
    if (entry.title === 'tools/call') calls.set(entry.about, entry)
    return entry
  }
  const change = (entry: Entry): void => void changed.add(entry)

  function pairingOf(client: number): Pairing {
    const pairing = pairings.get(client) ?? createPairing(create, change)
    pairings.set(client, pairing)
    return pairing
  }

  function request(record: RequestRecord): void {
    const { at, http, client, method, url, headers } = record
    const check = record.check === undefined ? undefined : checkOf(record.check, at)
    const pairing = pairingOf(client)
    const line = `${method} ${pathOf(url)}`
    const part: Part = {
      at,
      title: line,
      lines: [line, ...linesOf(headers)],
      request: { method, url, headers },
    }
    const messages = messagesOf(record)
    const hasMessages = messages.length > 0
    group = check ?? taskGroupOf(messages, at)
    const entries = hasMessages
      ? messages.map((message) => pairing.send(message, at))
      : [create({ kind: 'http', title: line, start: at, direction: 'sent' })]
    for (const entry of entries) addPart(entry, part)
    const state = { status: 0, isStream: false }
    exchanges.set(http, {
      method,
      pairing,
      part,
      entries,
      hasMessages,
      isDiscovery: entries.some(isDiscovery),
      check,
      ...state,
    })
  }

  function response(record: ResponseRecord): void {
    const { http, at, status, statusText, headers, isCrossOrigin = false } = record
    const exchange = exchanges.get(http)
    if (!exchange) return
    const { part, entries, hasMessages, method } = exchange
    const line = status === 0 ? UNREADABLE : `HTTP ${status} ${statusText}`.trim()
    const isStream = headers['content-type']?.startsWith('text/event-stream') ?? false
    Object.assign(exchange, { status, isStream })
    const isAbsent = status === 405 && method === 'GET'
    part.note = isStream ? `${line}, ${OPEN_STREAM}` : isAbsent ? `${line}: ${NO_STREAM}` : line
    if (!isStream) part.end = at
    part.failed = isFailure(exchange)
    const note = isCrossOrigin ? [ONLY_EXPOSED] : []
    part.lines = [...(part.lines ?? []), '', line, ...linesOf(headers), ...note]
    entries.forEach(change)
    const [own] = hasMessages ? [] : entries
    if (own) Object.assign(own, { outcome: part.note, isStream })
  }

  function message(record: MessageRecord): void {
    const { at, http, event, json, text } = record
    const exchange = exchanges.get(http)
    const messages = messagesOf(record)
    const pairing = exchange?.pairing ?? pairingOf(0)
    group = exchange?.check ?? taskGroupOf(messages, at)
    for (const each of messages) pairing.receive(each, at, exchange?.entries ?? [])
    if (!exchange || (messages.length > 0 && exchange.hasMessages)) return
    const method = messages[0]?.['method']
    const title = typeof method === 'string' ? method : (event ?? 'Body')
    for (const entry of exchange.entries) {
      addPart(entry, {
        at,
        title,
        direction: 'received',
        body: text === undefined ? { json } : { text },
      })
      change(entry)
    }
  }

  function close({ at, http, error, aborted }: EndRecord): void {
    const exchange = exchanges.get(http)
    if (!exchange) return
    exchanges.delete(http)
    const { part, entries, hasMessages } = exchange
    part.end = at
    part.note = part.note?.replace(OPEN_STREAM, 'stream')
    if (error !== undefined) {
      Object.assign(part, { note: plainTimeout(error), failed: true })
    }
    const isTimeout = aborted && !exchange.check
    const reason = isTimeout ? TIMED_OUT : 'no response'
    for (const entry of entries) {
      change(entry)
      if (!hasMessages) entry.outcome = part.note
      const isOneWay = !hasMessages || entry.kind === 'notification'
      // Otherwise it has its response
      if (!isOneWay && entry.end !== undefined) continue
      if (error !== undefined) end(entry, at, reason, true)
      else if (isFailure(exchange)) end(entry, at, `HTTP ${exchange.status}`, true)
      else if (aborted) end(entry, at, entry.isStream ? 'closed' : 'cancelled')
      else if (isOneWay) entry.end = at
      // In older revisions, the response may still arrive on another stream
      else if (exchange.isStream) end(entry, at, 'stream ended')
      else if (exchange.status !== 202) end(entry, at, `HTTP ${exchange.status}`)
    }
  }

  function step({ at, id, title, url, state, status, said, summary }: StepRecord): void {
    const entry = steps.get(id) ?? create({ kind: 'sign-in', title, start: at })
    steps.set(id, entry)
    Object.assign(entry, { title, about: summary })
    // A document with the status 200 may still be wrong
    const isRefused = status !== undefined && status >= 400
    if (state === 'failed') end(entry, at, isRefused ? `HTTP ${status}` : 'failed', true)
    else if (state !== 'running') end(entry, at, state === 'absent' ? 'does not exist' : 'done')
    const lines = status === undefined ? [url] : [url, `HTTP ${status}`]
    const body = said === undefined ? {} : { body: { json: said } }
    entry.parts.splice(0, 1, { at: entry.start, title: 'Step', lines, isMain: true, ...body })
    change(entry)
  }

  /** The group of a message about the state of a task. */
  function taskGroupOf([message = {}]: readonly Message[], at: number): Entry | undefined {
    const about = taskIdOf(message)
    if (about === undefined) return undefined
    const title = String(message['method'])
    const entry =
      tasks.get(about) ??
      create({ kind: 'request', title, about, direction: 'sent', start: at, members: [] })
    tasks.set(about, entry)
    return entry
  }

  function checkOf(id: number, at: number, title = 'Check'): Entry {
    const entry = checks.get(id) ?? create({ kind: 'check', title, start: at, members: [] })
    checks.set(id, entry)
    return entry
  }

  /** Shows in the row of a group what its entries say. */
  function summarize(entry: Entry): void {
    const { kind, members = [] } = entry
    if (kind === 'check') entry.about = `${members.length} entries`
    else summarizeTask(entry, members)
    change(entry)
  }

  /** Marks the last request of a failed connection, if none has failed: the page did not accept its response. */
  function markFailure(at: number): void {
    const last = recent.findLast(
      ({ kind, direction }) => kind === 'request' && direction === 'sent',
    )
    if (!last || recent.some((entry) => entry.failed)) return
    const { outcome = 'result' } = last
    end(last, last.end ?? at, outcome === 'result' ? 'not accepted' : outcome, true)
    change(last)
  }

  function mark({ at, text, check: id, outcome, failed = false }: MarkRecord): void {
    if (id === undefined) {
      if (failed) markFailure(at)
      recent = []
      return void create({ kind: 'mark', title: text, start: at, end: at, failed })
    }
    const entry = checkOf(id, at, text)
    if (outcome !== undefined) end(entry, at, outcome, failed)
    change(entry)
  }

  function notice({ at, text, level, tool }: NoticeRecord): void {
    const call = tool === undefined ? undefined : calls.get(tool)
    if (call) change(Object.assign(call, { level, outcome: text }))
    else create({ kind: 'log', title: text, start: at, end: at, level, about: 'playground' })
  }

  function apply(record: SessionRecord): void {
    if (record.type === 'request') request(record)
    else if (record.type === 'response') response(record)
    else if (record.type === 'message') message(record)
    else if (record.type === 'end') close(record)
    else if (record.type === 'step') step(record)
    else if (record.type === 'unanswered') {
      for (const pairing of pairings.values()) pairing.endQuestions(record)
    } else if (record.type === 'mark') mark(record)
    else notice(record)
  }

  return {
    add(record) {
      changed = new Set()
      group = undefined
      apply(record)
      for (const entry of changed) if (entry.group) summarize(entry.group)
      return changed
    },
    openExchanges: () => new Set(exchanges.keys()),
    endTaskGroups: () => tasks.clear(),
  }
}

/**
 * Whether the server refused a request. With 405, it says that it has no such stream, or no sessions to end.
 * Servers of older revisions reject discovery.
 */
function isFailure({ status, method, isDiscovery: isProbe }: Exchange): boolean {
  if (isProbe && /^4(?!01|03|29)/.test(String(status))) return false
  return status >= 400 && !(status === 405 && method !== 'POST')
}

function linesOf(headers: HeaderValues): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
}

function pathOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { pathname, search } = new URL(url)
  return pathname + search
}
