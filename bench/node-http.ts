/** A small call to a local HTTP server on Node: its cost under load, its latency, and memory. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, ratioTable, type Table } from './bench.ts'
import { buildForNode } from './build.ts'
import { compare, type Contender, type Measured } from './compare.ts'
import { servers } from './fetch.ts'
import { costOfCalls } from './load.ts'
import { handshake, template, type Template } from './requests.ts'
import { scenarios } from './scenarios.ts'
import type { Way } from './subject.ts'
import type { SubjectName } from './subjects/index.ts'

/** Other SDKs are compared without HTTP, in `fetch-handler`. */
const COMPARED: readonly SubjectName[] = ['floor', 'edgewise', 'official v2']
const CONNECTIONS = 16
const CALLS = 4000
const WARM_ROUNDS = 2
const PER_SECOND = 200
const ROUND_MS = 1000
const SOAK_CALLS = 100_000
const SOAK_LOOKS = 4
const { method, params, answered } = scenarios.echo

interface Served {
  name: SubjectName
  note: Way
  url: string
  call: Template
  child: ChildProcess
}

async function open(script: string, name: SubjectName, way: Way): Promise<Served> {
  const child = fork(script, [name, way], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const [port] = (await once(child, 'message')) as [number]
  const url = `http://127.0.0.1:${port}/mcp`
  const legacy = way === 'modern' ? undefined : await handshake((asked) => fetch(asked), url)
  const call = template(method, params, legacy)
  const first = await fetch(url, { method: 'POST', headers: call.headers, body: call.body(1) })
  const answer = await first.text()
  if (!answered(answer)) throw new Error(`"${name}" answered ${answer}`)
  return { name, note: way, url, call, child }
}

async function close({ child }: Served): Promise<void> {
  child.kill()
  await once(child, 'exit')
}

/** The cost of calls over 16 connections. */
function underLoad(served: Served): Contender {
  const { name, note, url, call, child } = served
  const round = (): ReturnType<Contender['round']> =>
    costOfCalls(name, child.pid, url, call, CALLS, CONNECTIONS)
  return { name, note, round, close: () => close(served) }
}

/** Sends calls on schedule, regardless of outstanding responses; returns their durations in ms. */
async function latencies({ name, url, call }: Served, agent: Agent): Promise<number[]> {
  const sendCall = (id: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const begun = performance.now()
      const text = call.body(id)
      const headers = { ...call.headers, 'content-length': Buffer.byteLength(text) }
      const sent = request(url, { method: 'POST', agent, headers })
      sent.on('error', reject).on('response', (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
        response.on('end', () => {
          if (answered(body)) resolve(performance.now() - begun)
          else reject(new Error(`"${name}" answered ${body}`))
        })
      })
      sent.end(text)
    })
  const begun = performance.now()
  const calls: Promise<number>[] = []
  for (let due = 0; due < ROUND_MS; due += 1000 / PER_SECOND) {
    const early = begun + due - performance.now()
    if (early > 0) await sleep(early)
    calls.push(sendCall(calls.length + 1))
  }
  return Promise.all(calls)
}

async function latencyTable(contenders: readonly Served[], rounds: number): Promise<Table> {
  const agent = new Agent({ keepAlive: true })
  const durationsByContender = contenders.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, served] of contenders.entries()) {
      const durations = await latencies(served, agent)
      // The first round opens the connections
      if (round > 0) durationsByContender[index]?.push(...durations)
    }
  }
  agent.destroy()
  const measured = contenders.map(({ name, note }, index) => {
    const sorted = (durationsByContender[index] ?? []).sort((a, b) => a - b)
    const quantile = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? NaN
    return { name, note, p50: quantile(0.5), p99: quantile(0.99) }
  })
  const [floor] = measured
  return {
    label: `${PER_SECOND} calls a second`,
    goal: 'p99 ≤ 1.5 times the floor’s',
    head: ['set-up', 'p50 ms', 'ratio', 'p99 ms', 'ratio'],
    rows: measured.map(({ name, note, p50, p99 }) => [
      name,
      note,
      ...[p50, p50 / (floor?.p50 ?? NaN), p99, p99 / (floor?.p99 ?? NaN)].map((n) => n.toFixed(2)),
    ]),
    data: measured,
  }
}

/** Heap after garbage collection, in MB, every quarter of many calls. */
async function soak({ name, note, url, call, child }: Served, calls: number): Promise<Table> {
  const mb: number[] = []
  const step = Math.ceil(calls / SOAK_LOOKS)
  for (let look = 0; look < SOAK_LOOKS; look++) {
    await costOfCalls(name, child.pid, url, call, step, CONNECTIONS)
    child.send('heap')
    const [heap] = (await once(child, 'message')) as [number]
    mb.push(heap)
  }
  return {
    label: 'heap in MB, after calls',
    goal: 'flat',
    head: ['', ...mb.map((_, look) => `${(look + 1) * step}`)],
    rows: [[name, note, ...mb.map((value) => value.toFixed(1))]],
    data: { name, step, mb },
  }
}

export const bench: Bench = {
  title: `tools/call over HTTP on Node: ${CONNECTIONS} connections, then ${PER_SECOND} a second, sent whether or not those before are answered`,
  tables: async ({ scale }) => {
    const script = await buildForNode('node-http-child.ts')
    // Few, because a server is slower for a while after others had the processor
    const rows = (await servers(['session', 'modern'])).filter(([name]) => COMPARED.includes(name))
    let contenders: Served[] = []
    const start = async (): Promise<Contender[]> => {
      contenders = []
      for (const [name, way] of rows) contenders.push(await open(script, name, way))
      const loaded = contenders.map(underLoad)
      for (const each of loaded) for (let n = 0; n < WARM_ROUNDS; n++) await each.round()
      return loaded
    }
    const load: Measured[] = await compare(start, {
      generations: 1,
      rounds: Math.ceil(12 * scale),
    })
    await start()
    const latency = await latencyTable(contenders, 1 + Math.ceil(10 * scale))
    const modern = contenders.find(({ name, note }) => name === 'edgewise' && note === 'modern')
    const tables = [
      ratioTable(`${CONNECTIONS} connections`, 'cpu share ≥ 62 %', load),
      latency,
      ...(modern ? [await soak(modern, Math.ceil(SOAK_CALLS * Math.min(1, scale)))] : []),
    ]
    await Promise.all(contenders.map(close))
    return tables
  },
}
