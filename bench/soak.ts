/**
 * Whether memory stays flat: thousands of sessions over three processes that share a Postgres database.
 * Each request goes to the next process. Sessions call tools with and without a stream, announce changes
 * to open streams, reconnect, and are ended and replaced.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../test/postgres/server.ts'
import type { Bench, Table } from './bench.ts'
import { buildForNode } from './build.ts'
import { handshake, template, type Handshake } from './requests.ts'
import type { Memory } from './soak-child.ts'

const PROCESSES = 3
const SESSIONS = 5000
/** How many sessions have a stream open for changes. */
const LISTENERS = 300
const LANES = 16
const SECONDS = 120
const LOOKS = 8
/**
 * Looks before this one are warm-up: sessions are opened, code is compiled, and V8 sizes its heap for
 * the load.
 */
const WARM_LOOKS = 3
/**
 * How much the heap after garbage collection may grow afterwards, in MB. It varies by half a megabyte
 * with what is under way. Two megabytes are less than 700 bytes for each request that a process answers
 * after the warm-up on a slow machine (250 requests a second in all).
 */
const MAX_HEAP_GROWTH = 2
/** The same for the whole process. It varies by 5 MB, because V8 does not return free memory at once. */
const MAX_RSS_GROWTH = 20

interface Started {
  child: ChildProcess
  url: string
}

async function start(script: string, args: readonly string[]): Promise<Started> {
  const child = fork(script, args, {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const [url] = (await once(child, 'message')) as [string]
  return { child, url }
}

async function memoryOf({ child }: Started): Promise<Memory> {
  child.send('memory')
  const [memory] = (await once(child, 'message')) as [Memory]
  return memory
}

/** The clients of all sessions, and what they did. */
class Clients {
  readonly #urls: readonly string[]
  readonly #sessions: Handshake[] = []
  readonly #streams: AbortController[] = []
  #turn = 0
  #ids = 0
  requests = 0
  events = 0

  constructor(urls: readonly string[]) {
    this.#urls = urls
  }

  async open(sessions: number, streams: number): Promise<void> {
    const lane = async (): Promise<void> => {
      while (this.#ids < sessions) {
        this.#ids++
        this.#sessions.push(await this.#initialize())
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    for (let n = 0; n < streams; n++) this.#streams[n] = await this.#listen(n)
  }

  /** Does the next thing. */
  async act(): Promise<void> {
    const id = ++this.#ids
    const index = Math.floor(Math.random() * this.#sessions.length)
    if (id % 500 === 0) await this.#call(index, 'change', id)
    else if (id % 50 === 1) await this.#reconnect(Math.floor(Math.random() * this.#streams.length))
    else if (id % 50 === 2 && index >= this.#streams.length) await this.#replace(index)
    else await this.#call(index, id % 10 === 3 ? 'progress' : 'plain', id)
  }

  close(): void {
    for (const stream of this.#streams) stream.abort()
  }

  /** The process whose turn it is. */
  #next(): string {
    this.requests++
    return this.#urls[this.#turn++ % this.#urls.length] ?? ''
  }

  #initialize(): Promise<Handshake> {
    return handshake((request) => fetch(this.#next(), request), this.#urls[0])
  }

  async #call(index: number, name: string, id: number): Promise<void> {
    const params = { name, arguments: {}, _meta: { progressToken: id } }
    const { headers, body } = template('tools/call', params, this.#sessions[index])
    const response = await fetch(this.#next(), { method: 'POST', headers, body: body(id) })
    const text = await response.text()
    if (!text.includes('done')) throw new Error(`Answered ${response.status}: ${text}`)
  }

  async #replace(index: number): Promise<void> {
    const { headers } = template('ping', {}, this.#sessions[index])
    this.#sessions[index] = await this.#initialize()
    await (await fetch(this.#next(), { method: 'DELETE', headers })).text()
  }

  async #reconnect(index: number): Promise<void> {
    this.#streams[index]?.abort()
    this.#streams[index] = await this.#listen(index)
  }

  async #listen(index: number): Promise<AbortController> {
    const controller = new AbortController()
    const { headers } = template('ping', {}, this.#sessions[index])
    const response = await fetch(this.#next(), {
      headers: { ...headers, accept: 'text/event-stream' },
      signal: controller.signal,
    })
    if (!response.ok) throw new Error(`A stream was refused: ${response.status}`)
    void this.#read(response).catch(() => {})
    return controller
  }

  async #read({ body }: Response): Promise<void> {
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      if (chunk.includes('list_changed')) this.events++
    }
  }
}

/** Lets the clients work for some time, and looks at the memory of each process in between. */
async function soak(
  processes: readonly Started[],
  clients: Clients,
  seconds: number,
): Promise<Memory[][]> {
  const looks: Memory[][] = []
  let isOver = false
  const lane = async (): Promise<void> => {
    while (!isOver) await clients.act()
  }
  const work = Promise.all(Array.from({ length: LANES }, lane))
  const watch = async (): Promise<void> => {
    for (let look = 1; look <= LOOKS; look++) {
      await sleep((seconds * 1000) / LOOKS)
      const memories = await Promise.all(processes.map(memoryOf))
      looks.push(memories)
      const text = memories.map(({ rss, heap }) => `${rss.toFixed(0)} (heap ${heap.toFixed(1)})`)
      const elapsed = ((look * seconds) / LOOKS).toFixed(0)
      console.log(`  after ${elapsed} s and ${clients.requests} requests, MB: ${text.join(', ')}`)
    }
    isOver = true
  }
  await Promise.all([work, watch()])
  return looks
}

/** How much the memory of a process grew since the warm-up. */
function growth(values: readonly number[]): number {
  const warm = values.slice(0, WARM_LOOKS)
  return Math.max(...values.slice(-2)) - Math.max(...warm)
}

function tableOf(looks: readonly Memory[][], clients: Clients): Table {
  const rows = Array.from({ length: PROCESSES }, (_, n) => {
    const heap = looks.map((memories) => memories[n]?.heap ?? 0)
    const rss = looks.map((memories) => memories[n]?.rss ?? 0)
    return { name: `process ${n + 1}`, heap, rss }
  })
  for (const { name, heap, rss } of rows) {
    if (growth(heap) > MAX_HEAP_GROWTH || growth(rss) > MAX_RSS_GROWTH) {
      throw new Error(`The memory of ${name} grew: heap ${heap.join(', ')}; RSS ${rss.join(', ')}`)
    }
  }
  return {
    label: `${clients.requests} requests, ${clients.events} events; MB`,
    goal: `RSS grows by ${MAX_RSS_GROWTH} MB at most, the heap by ${MAX_HEAP_GROWTH}`,
    head: ['', ...looks.map((_, look) => `look ${look + 1}`)],
    rows: rows.flatMap(({ name, heap, rss }) => [
      [name, 'heap', ...heap.map((value) => value.toFixed(1))],
      [name, 'RSS', ...rss.map((value) => value.toFixed(0))],
    ]),
    data: { requests: clients.requests, events: clients.events, rows },
  }
}

export const bench: Bench = {
  title: `${SESSIONS} sessions over ${PROCESSES} processes and Postgres, for ${SECONDS} s`,
  async tables({ scale }) {
    const script = await buildForNode('soak-child.ts')
    const database = await startPostgres()
    const size = Math.min(1, scale)
    const args = [database.url, String(SESSIONS * 2)]
    const processes = await Promise.all(
      Array.from({ length: PROCESSES }, () => start(script, args)),
    )
    const clients = new Clients(processes.map(({ url }) => url))
    try {
      await clients.open(Math.ceil(SESSIONS * size), Math.ceil(LISTENERS * size))
      return [tableOf(await soak(processes, clients, Math.ceil(SECONDS * size)), clients)]
    } finally {
      clients.close()
      for (const { child } of processes) {
        child.kill()
        await once(child, 'exit')
      }
      await database.stop()
    }
  },
}
