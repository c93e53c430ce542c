/**
 * `createWorker` on workerd with its Durable Objects, compared to a bare Worker and a bare object that
 * parses, reads one row, and answers.
 */
import { type Bench, ratioTable } from './bench.ts'
import { compare, type Contender } from './compare.ts'
import { costOfCalls, costOfWork } from './load.ts'
import { start, type Running } from './objects-host.ts'
import { handshake, initialize, template, type Template } from './requests.ts'

const echo = { name: 'echo', arguments: { text: 'The quick brown fox jumps over the lazy dog' } }
const SESSIONS = 40
const REQUESTS = 1500
/** Rounds that are not counted: V8 keeps optimizing frequent code until about ten thousand calls. */
const WARM_ROUNDS = 6

/** Repeats one call. */
function load(
  name: string,
  note: string,
  url: string,
  call: Template,
  workerd: Running,
): Contender {
  return {
    name,
    note,
    close: () => Promise.resolve(),
    round: () => costOfCalls(name, workerd.pid, url, call, REQUESTS),
  }
}

/** Repeatedly opens a new session and makes its first call. */
function opening(name: string, url: string, workerd: Running): Contender {
  const openAndCall = async (): Promise<void> => {
    const first = await post(url, JSON.stringify(initialize), {})
    const sessionId = first.headers.get('mcp-session-id') ?? undefined
    const call = template('tools/call', echo, { revision: '2025-11-25', sessionId })
    const { status } = await post(url, call.body(1), call.headers)
    if (status !== 200) throw new Error(`"${name}" answered ${status}`)
  }
  return {
    name,
    note: 'open + call',
    close: () => Promise.resolve(),
    round: () => costOfWork(workerd.pid, openAndCall, SESSIONS),
  }
}

async function post(
  url: string,
  body: string,
  extraHeaders: Record<string, string>,
): Promise<Response> {
  const accept = 'application/json, text/event-stream'
  const headers = { 'content-type': 'application/json', accept, ...extraHeaders }
  const response = await fetch(url, { method: 'POST', headers, body })
  await response.text()
  return response
}

/** Opens a contender on its own workerd: one contender would invalidate code that V8 optimized for another. */
type Open = (workerd: Running) => Contender | Promise<Contender>

const modern = template('tools/call', echo, undefined)
const modernCalls: Open[] = [
  (workerd) => load('floor', 'Worker', workerd.urlOf('/floor'), modern, workerd),
  (workerd) => load('edgewise', 'modern', workerd.urlOf('/mcp'), modern, workerd),
]

const sessionCalls: Open[] = [
  async (workerd) => {
    const bare = await post(workerd.urlOf('/bare'), JSON.stringify(initialize), {})
    const sessionId = bare.headers.get('mcp-session-id') ?? undefined
    const call = template('tools/call', echo, { revision: '2025-11-25', sessionId })
    return load('floor', 'object', workerd.urlOf('/bare'), call, workerd)
  },
  async (workerd) => {
    const own = await handshake((request) => fetch(request), workerd.urlOf('/mcp'))
    return load(
      'edgewise',
      'session',
      workerd.urlOf('/mcp'),
      template('tools/call', echo, own),
      workerd,
    )
  },
]

const newSessions: Open[] = [
  (workerd) => opening('floor', workerd.urlOf('/bare'), workerd),
  (workerd) => opening('edgewise', workerd.urlOf('/mcp'), workerd),
]

async function begin(open: Open): Promise<Contender> {
  const workerd = await start()
  const contender = await open(workerd)
  for (let warm = 0; warm < WARM_ROUNDS; warm++) await contender.round()
  return { ...contender, close: workerd.stop }
}

async function measure(opens: Open[], rounds: number) {
  return compare(
    async () => {
      const contenders: Contender[] = []
      for (const open of opens) contenders.push(await begin(open))
      return contenders
    },
    { generations: 3, rounds },
  )
}

export const bench: Bench = {
  title: 'createWorker with Durable Objects on workerd (share is of the floor’s requests/s)',
  tables: async ({ scale }) => {
    const rounds = Math.ceil(4 * scale)
    return [
      ratioTable('modern call', 'share ≥ 88 %', await measure(modernCalls, rounds)),
      ratioTable('session call', 'share ≥ 92 %', await measure(sessionCalls, rounds)),
      ratioTable('new session', 'share ≥ 70 %', await measure(newSessions, rounds)),
    ]
  },
}
