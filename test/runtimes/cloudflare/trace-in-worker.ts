// OpenTelemetry in a Worker, as docs/guides/opentelemetry.md sets it up: its context needs the
// compatibility flag `nodejs_als`.
import {
  context,
  propagation,
  ROOT_CONTEXT,
  type Context,
  type ContextManager,
  type Tracer,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { AsyncLocalStorage } from 'node:async_hooks'
import { openTelemetry } from '../../../src/opentelemetry/index.ts'
import { serverObserver, type ServerObserver } from '../../../src/presets/server.ts'

/** A finished span. */
export interface TracedSpan {
  readonly name: string
  readonly traceId: string
  readonly id: string
  readonly parentId: string | undefined
}

/** Records spans in the memory of the isolate. */
export function traceInWorker(): {
  readonly observe: ServerObserver
  readonly tracer: Tracer
  spans(): TracedSpan[]
} {
  context.setGlobalContextManager(contextManager())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  const exporter = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  return {
    observe: serverObserver(openTelemetry({ tracerProvider })),
    tracer: tracerProvider.getTracer('tool'),
    spans: () => exporter.getFinishedSpans().map(tracedSpan),
  }
}

/** Describes a finished span. */
export function tracedSpan(span: ReadableSpan): TracedSpan {
  const { traceId, spanId: id } = span.spanContext()
  return { name: span.name, traceId, id, parentId: span.parentSpanContext?.spanId }
}

function contextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, thisArg, ...args) =>
      storage.run(active, () => work.call(thisArg, ...args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  return manager
}
