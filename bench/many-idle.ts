/**
 * Thousands of sessions on workerd with an idle stream each: how many of their objects stay awake,
 * what memory a stream takes, and how long one change takes to reach all of them; against a bare hub
 * of sockets that may hibernate, and against Cloudflare's `McpAgent`, which is installed apart from
 * the package's own dependencies when this bench runs.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import type { Bench } from './bench.ts'
import { source } from './build.ts'
import { start, type Running } from './objects-host.ts'
import { handshake, template } from './requests.ts'

const OPENED_AT_ONCE = 16
const AGENT = 'mcp-agent/worker.js'
/** How many sessions are asked whether their objects are in memory. */
const ASKED = 500
/** Objects leave memory ten seconds after their last request. */
const IDLE_MS = 15_000

/** What was measured of one set-up. */
interface Measured {
  name: string
  note: string
  streams: number
  /** Objects of 500 that were in memory after a time without requests; unknown where nothing tells. */
  awake: number | undefined
  kbPerStream: number | undefined
  /** Until the last stream heard of a change; unknown where nothing tells all of them. */
  toldMs: number | undefined
}

/** A stream that is open. */
interface Stream {
  /** Resolves with the next event that holds data. */
  next(): Promise<void>
  /** Has the object of the stream's session answer a ping. */
  ping?(): Promise<void>
}

function memoryKb(pid: number | undefined): number | undefined {
  try {
    return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

async function openStream(url: string, headers: Record<string, string> = {}): Promise<Stream> {
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers } })
  if (!response.ok || !response.body) throw new Error(`A stream was refused: ${response.status}`)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  return {
    async next() {
      for (let text = ''; !text.includes('data: {');) {
        const { value, done } = await reader.read()
        if (done) throw new Error('A stream ended')
        text += value
      }
    },
  }
}

async function openSession(on: Running): Promise<Stream> {
  const url = on.at('/mcp')
  const { sessionId = '', revision } = await handshake((request) => fetch(request), url)
  const own = { 'mcp-session-id': sessionId, 'mcp-protocol-version': revision }
  const stream = await openStream(url, own)
  const accept = 'application/json, text/event-stream'
  const headers = { ...own, accept, 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const ping = async (): Promise<void> => {
    const response = await fetch(url, { method: 'POST', headers, body })
    if (!(await response.text()).includes('"result"')) throw new Error('A ping was not answered')
  }
  return { ...stream, ping }
}

async function each<T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) done.push(await work(next++))
  }
  await Promise.all(Array.from({ length: OPENED_AT_ONCE }, lane))
  return done
}

async function measure(
  name: string,
  note: string,
  count: number,
  on: Running,
  open: (on: Running) => Promise<Stream>,
  notify?: string,
): Promise<Measured> {
  const lives = async (): Promise<number> => Number(await (await fetch(on.at('/lives'))).text())
  // What the first few take is taken once.
  const few = await each(20, () => open(on))
  const before = memoryKb(on.pid)
  const streams = await each(count, () => open(on))
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  const after = memoryKb(on.pid)
  const measured: Measured = {
    name,
    note,
    streams: count,
    awake: undefined,
    kbPerStream: before && after ? (after - before) / count : undefined,
    toldMs: undefined,
  }
  if (notify !== undefined) {
    const from = performance.now()
    const heard = Promise.all([...few, ...streams].map((stream) => stream.next()))
    await fetch(on.at(notify))
    await heard
    measured.toldMs = performance.now() - from
  }
  const alive = await lives()
  const asked = streams.slice(0, ASKED).flatMap(({ ping }) => ping ?? [])
  await each(asked.length, (n) => asked[n]?.() ?? Promise.resolve())
  // Each object that came into memory now was not there, also not since the change.
  const woken = (await lives()) - alive
  if (asked.length > 0) measured.awake = asked.length - woken
  await on.stop()
  return measured
}

/** The rows that a session of five calls writes: at the handshake, and with each call. */
async function countWrites(name: string, on: Running): Promise<string[]> {
  const written = async (): Promise<number> => Number(await (await fetch(on.at('/rows'))).text())
  const url = on.at('/mcp')
  const before = await written()
  const own = await handshake((request) => fetch(request), url)
  const opened = await written()
  const { headers, body } = template('tools/call', { name: 'echo', arguments: { text: '' } }, own)
  for (let id = 1; id <= 5; id++) {
    const response = await fetch(url, { method: 'POST', headers, body: body(id) })
    await response.text()
  }
  const called = await written()
  await on.stop()
  return [name, 'five calls', String(opened - before), String((called - opened) / 5)]
}

/**
 * How many streams the limit of open files leaves room for: each takes two of workerd's, beside what
 * objects have open until they leave memory.
 */
function mostStreams(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const files = Number(/Max open files\s+(\d+)/.exec(limits)?.[1] ?? Infinity)
    return Math.max(100, Math.floor((files - 6000) / 2))
  } catch {
    return Infinity
  }
}

/** Installs the peer where it is not. */
function installAgent(): void {
  const cwd = source('mcp-agent')
  if (existsSync(`${cwd}/node_modules/agents`)) return
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--silent'], { cwd, stdio: 'inherit' })
}

export const bench: Bench = {
  title: 'Idle sessions by the thousand on workerd',
  tables: async ({ scale }) => {
    const count = Math.min(Math.ceil(10_000 * scale), mostStreams())
    const few = Math.ceil(count / 10)
    installAgent()
    const bare = (on: Running): Promise<Stream> => openStream(on.at('/bare-listen'))
    const data = [
      await measure('bare hub', 'sockets', count, await start(), bare, '/bare-notify'),
      await measure('edgewise', 'sessions', count, await start(), openSession, '/notify'),
      await measure('McpAgent', 'sessions', few, await start(AGENT), openSession),
    ]
    const rows = data.map(({ name, note, streams, awake, kbPerStream, toldMs }) => [
      name,
      note,
      String(streams),
      awake === undefined ? '' : String(awake),
      kbPerStream === undefined ? '' : kbPerStream.toFixed(1),
      toldMs === undefined ? '' : toldMs.toFixed(0),
    ])
    const head = ['set-up', 'streams', 'awake of 500', 'KB each', 'told in ms']
    const writes = [
      await countWrites('edgewise', await start()),
      await countWrites('McpAgent', await start(AGENT)),
    ]
    return [
      { label: 'idle streams', goal: 'no object awake', head, rows, data },
      {
        label: 'rows written',
        goal: 'few',
        head: ['of a session', 'at first', 'each call'],
        rows: writes,
        data: writes,
      },
    ]
  },
}
