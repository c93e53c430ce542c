/**
 * The cost that observing adds to a `tools/call`, in process: with an observer that does nothing, and with
 * the spans and metrics of OpenTelemetry, whose SDK records them but exports nothing. Blocks of calls of
 * each kind alternate. CPU time is measured, which other work on the machine disturbs less.
 */
import { context, propagation } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { clientObserver, type ClientObserver } from 'edgewise/client'
import { openTelemetry } from 'edgewise/opentelemetry'
import { createHandler, createServer, serverObserver, type ServerObserver } from 'edgewise/server'
import { connectInMemory } from 'edgewise/testing'
import * as z from 'zod'
import type { Bench } from './bench.ts'
import { template, url } from './requests.ts'

/** The number of consecutive calls. */
const BLOCK = 200

const KINDS = ['off', 'observed', 'spans'] as const
type Kind = (typeof KINDS)[number]

/** Makes one call. */
type Call = () => Promise<void>

export const bench: Bench = {
  title: 'tools/call with an observer, in process (time added to that of a call without one)',
  tables: async ({ scale }) => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
    const blocks = Math.ceil(150 * scale)
    const rows: string[][] = []
    const data: unknown[] = []
    for (const [where, make] of Object.entries({ server: overFetch, both: inMemory })) {
      const calls = {
        off: await make('off'),
        observed: await make('observed'),
        spans: await make('spans'),
      }
      const times: Record<Kind, number[]> = { off: [], observed: [], spans: [] }
      for (let block = -20; block < blocks; block++) {
        for (const kind of KINDS) {
          const us = await timeBlock(calls[kind])
          // The first blocks are cold
          if (block >= 0) times[kind].push(us)
        }
      }
      for (const [statistic, share] of Object.entries({ 'fastest tenth': 0.1, median: 0.5 })) {
        const us = (kind: Kind): number => quantile(times[kind], share)
        const figures = [us('off'), us('observed') - us('off'), us('spans') - us('off')]
        rows.push([where, statistic, ...figures.map((figure) => figure.toFixed(1))])
        data.push({
          where,
          statistic,
          offUs: figures[0],
          observedUs: figures[1],
          spansUs: figures[2],
        })
      }
    }
    context.disable()
    propagation.disable()
    const head = ['', 'off', 'observer adds', 'spans and metrics add']
    return [
      {
        label: 'CPU µs, by',
        goal: 'spans and metrics add ≤ 15 µs for each side',
        head,
        rows,
        data,
      },
    ]
  },
}

/** The observers of a kind. */
function observersOf(kind: Kind): { server?: ServerObserver; client?: ClientObserver } {
  if (kind === 'off') return {}
  const observer =
    kind === 'observed'
      ? () => undefined
      : openTelemetry({
          tracerProvider: new BasicTracerProvider(),
          meterProvider: new MeterProvider(),
        })
  return { server: serverObserver(observer), client: clientObserver(observer) }
}

function makeServer(observe: ServerObserver | undefined): ReturnType<typeof createServer> {
  const server = createServer({ name: 'bench', version: '1' }, observe && { observe })
  server.tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => text)
  return server
}

/** A call to a handler; only the server is observed. */
async function overFetch(kind: Kind): Promise<Call> {
  const handle = createHandler(makeServer(observersOf(kind).server))
  const params = { name: 'echo', arguments: { text: 'hi' } }
  const { headers, body } = template('tools/call', params, undefined)
  let id = 0
  return async () => {
    const request = new Request(url, { method: 'POST', headers, body: body(++id) })
    const text = await (await handle(request)).text()
    if (!text.includes('"text":"hi"')) throw new Error(`Answered ${text}`)
  }
}

/** A call of a client; both sides are observed. */
async function inMemory(kind: Kind): Promise<Call> {
  const { server, client: observe } = observersOf(kind)
  const client = await connectInMemory(makeServer(server), observe && { observe })
  return async () => void (await client.callTool('echo', { text: 'hi' }))
}

/** The mean CPU time of a call in a block, in microseconds. */
async function timeBlock(call: Call): Promise<number> {
  const start = process.cpuUsage()
  for (let done = 0; done < BLOCK; done++) await call()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / BLOCK
}

/** The quantile of all values. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}
