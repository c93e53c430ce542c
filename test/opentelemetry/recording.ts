/** An OpenTelemetry SDK that records in memory. */
import { context, propagation, trace, type Tracer } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  CompositePropagator,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from '@opentelemetry/core'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type MetricData,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  type ReadableSpan,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll } from 'vitest'
import { openTelemetry, type OpenTelemetryOptions } from '../../src/opentelemetry/index.ts'
import { clientObserver, type ClientObserver } from '../../src/presets/client.ts'
import { serverObserver, type ServerObserver } from '../../src/presets/server.ts'

/** Sets the context manager and the propagators of the process during the tests of a file. */
export function useGlobalContext(): void {
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()]
    propagation.setGlobalPropagator(new CompositePropagator({ propagators }))
  })
  afterAll(() => {
    context.disable()
    propagation.disable()
    trace.disable()
  })
}

/** What was recorded. */
export interface Recorded {
  readonly tracer: Tracer
  /** The observers of a server and of a client. */
  readonly server: ServerObserver
  readonly client: ClientObserver
  /** The finished spans in the order of their beginning. */
  spans(): ReadableSpan[]
  metrics(): Promise<MetricData[]>
}

/** Records spans and metrics in memory. */
export function record(options: OpenTelemetryOptions = {}): Recorded {
  const begun: ReadableSpan[] = []
  const processor: SpanProcessor = {
    onStart: (span) => void begun.push(span),
    onEnd() {},
    forceFlush: async () => {},
    shutdown: async () => {},
  }
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [processor] })
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 3_600_000,
  })
  const meterProvider = new MeterProvider({ readers: [reader] })
  const observer = openTelemetry({ ...options, tracerProvider, meterProvider })
  return {
    tracer: tracerProvider.getTracer('test'),
    server: serverObserver(observer),
    client: clientObserver(observer),
    spans: () => begun.filter(({ ended }) => ended),
    async metrics() {
      await reader.forceFlush()
      await reader.shutdown()
      const [last] = metricExporter.getMetrics().slice(-1)
      return last?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? []
    },
  }
}
