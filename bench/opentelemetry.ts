/**
 * The CPU time that observing adds to a `tools/call`, in process: with an observer that does nothing, and
 * with the spans and metrics of OpenTelemetry, whose SDK records them but exports nothing. The floor is an
 * observer that only calls the SDK, for the same spans and measurements.
 *
 * A round has one block of calls of each kind. What a kind adds is the median of the differences within a
 * round, because the speed of a machine changes less within a round than from round to round. CPU time is
 * measured, which other work on the machine disturbs less. It includes the collection of garbage.
 */
import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  type Attributes,
  type Histogram,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { clientObserver } from 'edgewise/client'
import { openTelemetry } from 'edgewise/opentelemetry'
import { createHandler, createServer, serverObserver, type Observer } from 'edgewise/server'
import { connectInMemory } from 'edgewise/testing'
import * as z from 'zod'
import type { Bench } from './bench.ts'
import { template, url } from './requests.ts'

/** The number of consecutive calls. */
const BLOCK = 200

/** The number of rounds that are not measured, because the code is not compiled yet. */
const WARM_UP_ROUNDS = 20

const KINDS = ['off', 'observed', 'sdk', 'spans'] as const
type Kind = (typeof KINDS)[number]

/** Makes one call. */
type Call = () => Promise<void>

export const bench: Bench = {
  title: 'tools/call with an observer, in process',
  tables: async ({ scale }) => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
    const rounds = Math.ceil(150 * scale)
    const rows: string[][] = []
    const data: unknown[] = []
    for (const [where, make] of Object.entries({ server: overFetch, both: inMemory })) {
      const calls: Record<Kind, Call> = {
        off: await make(),
        observed: await make(() => undefined),
        sdk: await make(await sdkAlone(make)),
        spans: await make(observerOf(startSdk())),
      }
      const times: Record<Kind, number>[] = []
      for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
        const us = { off: 0, observed: 0, sdk: 0, spans: 0 }
        // Another kind begins each round, because garbage may be collected in a later block
        const first = (round + WARM_UP_ROUNDS) % KINDS.length
        for (const kind of [...KINDS.slice(first), ...KINDS.slice(0, first)]) {
          us[kind] = await timeBlock(calls[kind])
        }
        if (round >= 0) times.push(us)
      }
      const figures = {
        offUs: median(times.map(({ off }) => off)),
        observedUs: median(times.map(({ off, observed }) => observed - off)),
        sdkUs: median(times.map(({ off, sdk }) => sdk - off)),
        spansUs: median(times.map(({ off, spans }) => spans - off)),
        oursUs: median(times.map(({ sdk, spans }) => spans - sdk)),
      }
      rows.push([where, ...Object.values(figures).map((figure) => figure.toFixed(1))])
      data.push({ where, ...figures })
    }
    context.disable()
    propagation.disable()
    const head = ['', 'off', 'observer adds', 'SDK adds', 'spans and metrics add', 'more than SDK']
    const goal = 'spans and metrics add ≤ 15 µs for each side'
    return [{ label: 'CPU µs, observing', goal, head, rows, data }]
  },
}

/** Collects metrics when it is asked to. Without a reader, the SDK records no metrics. */
class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** An SDK that exports nothing, unless it has an exporter. */
function startSdk(exporter?: InMemorySpanExporter): {
  readonly tracerProvider: BasicTracerProvider
  readonly meterProvider: MeterProvider
  readonly reader: Reader
} {
  const reader = new Reader()
  const spanProcessors = exporter ? [new SimpleSpanProcessor(exporter)] : []
  return {
    tracerProvider: new BasicTracerProvider({ spanProcessors }),
    meterProvider: new MeterProvider({ readers: [reader] }),
    reader,
  }
}

function observerOf({ tracerProvider, meterProvider }: ReturnType<typeof startSdk>): Observer {
  return openTelemetry({ tracerProvider, meterProvider })
}

function makeServer(observer?: Observer): ReturnType<typeof createServer> {
  const options = observer && { observe: serverObserver(observer) }
  const server = createServer({ name: 'bench', version: '1' }, options)
  server.tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => text)
  return server
}

/** A call to a handler; only the server is observed. */
async function overFetch(observer?: Observer): Promise<Call> {
  const handle = createHandler(makeServer(observer))
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
async function inMemory(observer?: Observer): Promise<Call> {
  const options = observer && { observe: clientObserver(observer) }
  const client = await connectInMemory(makeServer(observer), options)
  return async () => void (await client.callTool('echo', { text: 'hi' }))
}

/** What one side records for a call. */
interface Recording {
  readonly span: ReadableSpan
  readonly histogram: Histogram
  readonly measured: Attributes
}

/**
 * An observer that makes only the calls of the SDK: it records the spans and measurements of a call, with
 * attributes that it has from an earlier call.
 */
async function sdkAlone(make: (observer: Observer) => Promise<Call>): Promise<Observer> {
  const exporter = new InMemorySpanExporter()
  const earlier = startSdk(exporter)
  const call = await make(observerOf(earlier))
  exporter.reset()
  await call()
  const { resourceMetrics } = await earlier.reader.collect()
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)
  const { tracerProvider, meterProvider } = startSdk()
  const tracer = tracerProvider.getTracer('bench')
  const recordings = new Map<string, Recording>()
  for (const span of exporter.getFinishedSpans()) {
    const side = span.kind === SpanKind.SERVER ? 'server' : 'client'
    const metric = metrics.find((each) => each.descriptor.name.includes(side))
    if (!metric) throw new Error(`No metric of the ${side}`)
    const { descriptor } = metric
    const histogram = meterProvider.getMeter('bench').createHistogram(descriptor.name, descriptor)
    // The measurements before the last one are of requests that connect the client
    const measured = metric.dataPoints.at(-1)?.attributes ?? {}
    recordings.set(side, { span, histogram, measured })
  }
  return ({ side, method }) => {
    const recording = method === 'tools/call' ? recordings.get(side) : undefined
    if (!recording) return
    const { name, kind, attributes } = recording.span
    const span = tracer.startSpan(name, { kind, attributes }, ROOT_CONTEXT)
    return {
      end() {
        span.end()
        recording.histogram.record(0.001, recording.measured)
      },
    }
  }
}

/** The mean CPU time of a call in a block, in microseconds. */
async function timeBlock(call: Call): Promise<number> {
  const start = process.cpuUsage()
  for (let done = 0; done < BLOCK; done++) await call()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / BLOCK
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
