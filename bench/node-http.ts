/** A small call to a local HTTP server on Node: its latency at a fixed arrival rate. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import { buildForNode } from './build.ts'
import { cpuUsOf } from './cpu.ts'
import { servers } from './fetch.ts'
import { handshake, template } from './requests.ts'
import { scenarios } from './scenarios.ts'
import type { Way } from './subject.ts'
import type { SubjectName } from './subjects/index.ts'

const PER_SECOND = 200
const ROUND_MS = 1000
const { method, params, answered } = scenarios.echo

interface Served {
  name: string
  note: string
  /** Makes calls for a second; returns the duration of each, in milliseconds. */
  round(): Promise<number[]>
  /** CPU time of the server, in microseconds. */
  cpuUs(): number
  close(): Promise<void>
}

async function open(script: string, name: SubjectName, way: Way): Promise<Served> {
  const child = fork(script, [name, way], { env: { ...process.env, NODE_ENV: 'production' } })
  const [port] = (await once(child, 'message')) as [number]
  const url = `http://127.0.0.1:${port}/mcp`
  const legacy = way === 'modern' ? undefined : await handshake((asked) => fetch(asked), url)
  const { headers, body } = template(method, params, legacy)
  const agent = new Agent({ keepAlive: true })
  let id = 0
  const call = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const begun = performance.now()
      const text = body(++id)
      const sent = request(url, {
        method: 'POST',
        agent,
        headers: { ...headers, 'content-length': Buffer.byteLength(text) },
      })
      sent.on('error', reject).on('response', (response) => {
        let told = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (told += chunk))
        response.on('end', () => {
          if (answered(told)) resolve(performance.now() - begun)
          else reject(new Error(`"${name}" answered ${told}`))
        })
      })
      sent.end(text)
    })
  /** Sends on schedule, regardless of outstanding responses. */
  const round = async (): Promise<number[]> => {
    const begun = performance.now()
    const calls: Promise<number>[] = []
    for (let due = 0; due < ROUND_MS; due += 1000 / PER_SECOND) {
      const early = begun + due - performance.now()
      if (early > 0) await sleep(early)
      calls.push(call())
    }
    return Promise.all(calls)
  }
  for (let warm = 0; warm < 1000; warm++) await call()
  return {
    name,
    note: way,
    round,
    cpuUs: () => cpuUsOf(child.pid) ?? Number.NaN,
    close: async () => {
      agent.destroy()
      child.kill()
      await once(child, 'exit')
    },
  }
}

export const bench: Bench = {
  title: `tools/call over HTTP on Node, ${PER_SECOND} a second, sent whether or not those before are answered`,
  tables: async ({ scale }) => {
    const script = await buildForNode('node-http-child.ts')
    const rows = (await servers(['session', 'modern'])).filter(
      ([name, way]) => name !== 'floor' || way === 'modern',
    )
    const contenders: Served[] = []
    for (const [name, way] of rows) contenders.push(await open(script, name, way))
    const took = contenders.map((): number[] => [])
    const cpuUs = contenders.map(() => 0)
    for (let round = 0; round < Math.ceil(10 * scale); round++) {
      for (const [index, contender] of contenders.entries()) {
        const before = contender.cpuUs()
        took[index]?.push(...(await contender.round()))
        cpuUs[index] = (cpuUs[index] ?? 0) + contender.cpuUs() - before
      }
    }
    await Promise.all(contenders.map((contender) => contender.close()))
    const measured = contenders.map(({ name, note }, index) => {
      const sorted = (took[index] ?? []).sort((a, b) => a - b)
      const quantile = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? NaN
      const us = (cpuUs[index] ?? 0) / sorted.length
      return { name, note, p50: quantile(0.5), p99: quantile(0.99), cpuUs: us }
    })
    const [floor] = measured
    const columns = ['p50', 'p99', 'cpuUs'] as const
    return [
      {
        label: 'HTTP on Node',
        goal: 'p99 under 5 ms',
        head: ['set-up', 'p50 ms', 'ratio', 'p99 ms', 'ratio', 'cpu µs', 'ratio'],
        rows: measured.map((row) => [
          row.name,
          row.note,
          ...columns.flatMap((column) => [
            row[column].toFixed(2),
            (row[column] / (floor?.[column] ?? NaN)).toFixed(2),
          ]),
        ]),
        data: measured,
      },
    ]
  },
}
