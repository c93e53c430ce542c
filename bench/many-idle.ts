/**
 * Thousands of sessions on workerd with an idle stream each: how many of their objects stay in memory,
 * how much memory a stream takes, and how long a change takes to reach all of them; compared to a bare
 * hub of hibernatable sockets, and to Cloudflare's `McpAgent`, which this benchmark installs separately
 * from the package's dependencies.
 */
import { readFileSync } from 'node:fs'
import type { Bench } from './bench.ts'
import { installPeer } from './installed-peer.ts'
import { start, startWithClients, type Running, type RunningWithClients } from './objects-host.ts'
import { handshake, template } from './requests.ts'

const AGENT = 'mcp-agent/worker.js'
/** The number of sessions whose objects are checked for being in memory. */
const MAX_CHECKED = 500
/** Objects are evicted from memory ten seconds after their last request. */
const IDLE_MS = 15_000
/** The number of streams per request, so that no request takes minutes. */
const BATCH = 500

/** The measurements of one configuration. */
interface Measured {
  name: string
  note: string
  streams: number
  /** How many of 500 objects were in memory after a period without requests; unknown if not observable. */
  awake: number | undefined
  /** Both sides of the stream. */
  kbPerStream: number | undefined
  /** The time until the last stream received a change; unknown if not observable. */
  notifiedMs: number | undefined
}

function memoryKb(pid: number | undefined): number | undefined {
  try {
    return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

/** Sends a command to the clients; resolves when all of their streams are open. */
async function command({ clients }: RunningWithClients, path: string): Promise<void> {
  const response = await fetch(clients(path))
  const text = await response.text()
  if (!response.ok) throw new Error(`"${path}" failed: ${text}`)
  const { ended } = JSON.parse(text) as { ended: number }
  if (ended > 0) throw new Error(`${ended} streams ended`)
}

async function measure(
  name: string,
  note: string,
  count: number,
  workerd: RunningWithClients,
  path: string,
  notify?: string,
): Promise<Measured> {
  const lives = async (): Promise<number> =>
    Number(await (await fetch(workerd.urlOf('/lives'))).text())
  // The fixed cost of the first streams is not measured.
  await command(workerd, `/open?path=${path}&count=20`)
  const before = memoryKb(workerd.pid)
  for (let left = count; left > 0; left -= BATCH) {
    await command(workerd, `/open?path=${path}&count=${Math.min(left, BATCH)}`)
  }
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  const after = memoryKb(workerd.pid)
  const measured: Measured = {
    name,
    note,
    streams: count,
    awake: undefined,
    kbPerStream: before && after ? (after - before) / count : undefined,
    notifiedMs: undefined,
  }
  if (notify !== undefined) {
    const from = performance.now()
    await command(workerd, `/announce?path=${notify}`)
    measured.notifiedMs = performance.now() - from
  }
  if (path === '/mcp') {
    const alive = await lives()
    const checked = Math.min(count, MAX_CHECKED)
    await command(workerd, `/ping?count=${checked}`)
    // An object that this check created had left memory since the change
    measured.awake = checked - ((await lives()) - alive)
  }
  await workerd.stop()
  return measured
}

/** The rows that a session with five calls writes: during the handshake, and per call. */
async function countWrites(name: string, workerd: Running): Promise<string[]> {
  const written = async (): Promise<number> =>
    Number(await (await fetch(workerd.urlOf('/rows'))).text())
  const url = workerd.urlOf('/mcp')
  const before = await written()
  const own = await handshake((request) => fetch(request), url)
  const opened = await written()
  const { headers, body } = template('tools/call', { name: 'echo', arguments: { text: '' } }, own)
  for (let id = 1; id <= 5; id++) {
    const response = await fetch(url, { method: 'POST', headers, body: body(id) })
    await response.text()
  }
  const called = await written()
  await workerd.stop()
  return [name, 'five calls', String(opened - before), String((called - opened) / 5)]
}

export const bench: Bench = {
  title: 'Idle sessions by the thousand on workerd',
  tables: async ({ scale }) => {
    const count = Math.ceil(10_000 * scale)
    const few = Math.ceil(count / 10)
    installPeer('mcp-agent')
    const agent = (): Promise<RunningWithClients> => startWithClients(AGENT)
    const data = [
      await measure(
        'bare hub',
        'sockets',
        count,
        await startWithClients(),
        '/bare-listen',
        '/bare-notify',
      ),
      await measure('edgewise', 'sessions', count, await startWithClients(), '/mcp', '/notify'),
      await measure('McpAgent', 'sessions', few, await agent(), '/mcp'),
    ]
    const rows = data.map(({ name, note, streams, awake, kbPerStream, notifiedMs }) => [
      name,
      note,
      String(streams),
      awake === undefined ? '' : String(awake),
      kbPerStream === undefined ? '' : kbPerStream.toFixed(1),
      notifiedMs === undefined ? '' : notifiedMs.toFixed(0),
    ])
    const head = ['set-up', 'streams', 'awake of 500', 'KB each', 'notified in ms']
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
