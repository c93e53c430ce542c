/**
 * Records the operations of clients and servers as spans and metrics of OpenTelemetry.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/
 */
import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Link,
  type MeterProvider,
  type TracerProvider,
} from '@opentelemetry/api'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import type { Observation, Observer, Operation, TraceContext } from '../protocol/observation.ts'
import {
  contentAttributes,
  errorAttributes,
  sharedAttributes,
  spanAttributes,
  spanName,
  STATUS_CODE,
} from './attributes.ts'
import { createRecorder } from './metrics.ts'

/** Options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /**
   * Whether spans contain the arguments and results of tools, and the arguments of prompts. They may
   * contain personal data and secrets.
   *
   * @default false
   */
  contents?: boolean
  /**
   * Whether baggage is sent to the other side, which can read it, and accepted from the other side.
   *
   * @default false
   */
  baggage?: boolean
  /**
   * Returns attributes to add to the span of an operation, such as the principal. They are not added to
   * metrics.
   */
  attributes?: (operation: Operation) => Attributes
  /** Creates the tracer. Default: the global provider. */
  tracerProvider?: TracerProvider
  /** Creates the metrics. Default: the global provider. */
  meterProvider?: MeterProvider
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<OpenTelemetryOptions> = {
  contents: 1,
  baggage: 1,
  attributes: 1,
  tracerProvider: 1,
  meterProvider: 1,
}

/** The name of the instrumentation, and its version. */
const SCOPE = ['edgewise', '0.1.0'] as const

/**
 * Creates an observer that records spans and metrics by the semantic conventions for MCP: for requests
 * and notifications in both directions, runs of tasks, deliveries to webhooks and sign-ins. A request's
 * span is current while its handler runs. The `_meta` of a sent message contains the context of the span. The
 * span of a received message continues the context in `_meta`.
 *
 * @example
 * ```ts
 * import { openTelemetry } from 'edgewise/opentelemetry'
 * import { createServer, serverObserver } from 'edgewise/server'
 *
 * const observe = serverObserver(openTelemetry())
 * const server = createServer({ name: 'travel', version: '1.0.0' }, { observe })
 * ```
 *
 * @throws {TypeError} If an option is unknown.
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Observer {
  requireKnown('openTelemetry', options, OPTION_NAMES)
  const { contents = false, baggage = false, attributes, tracerProvider = trace } = options
  const tracer = tracerProvider.getTracer(...SCOPE)
  const record = createRecorder(options.meterProvider, SCOPE)
  return (operation): Observation | undefined => {
    const name = spanName(operation)
    const shared = sharedAttributes(operation)
    // Such an operation has metrics, but no span
    if (name === undefined) {
      return {
        end(outcome) {
          const failure = errorAttributes(operation, outcome)
          record(operation, outcome, Object.assign(shared, failure))
        },
      }
    }
    const active = context.active()
    const { parent, links } = parentOf(operation, active, baggage)
    const kind = kindOf(operation)
    const attributesOfSpan = spanAttributes(operation, shared)
    // Exceptions of the application's functions are thrown only after the span has ended
    const faults: unknown[] = []
    const attempt = (read: () => Attributes | undefined): Attributes | undefined => {
      try {
        return read()
      } catch (error) {
        faults.push(error)
        return undefined
      }
    }
    const applicationAttributes = attributes && attempt(() => attributes(operation))
    Object.assign(attributesOfSpan, applicationAttributes)
    const span = tracer.startSpan(name, { kind, links, attributes: attributesOfSpan }, parent)
    const hasContents = contents && span.isRecording()
    if (hasContents) {
      // The attributes of the application override those of the contents
      span.setAttributes({
        ...attempt(() => contentAttributes(operation)),
        ...applicationAttributes,
      })
    }
    const current = trace.setSpan(parent, span)
    return {
      trace: operation.direction === 'sent' ? inject(current, baggage) : undefined,
      run: (work) => context.with(current, work),
      end(outcome) {
        const { error, id, result } = outcome
        const failure = errorAttributes(operation, outcome)
        if (failure) {
          const code = failure[STATUS_CODE]
          span.setAttributes(failure)
          // The same code, under the name of the general conventions
          if (code !== undefined) span.setAttribute('rpc.status_code', code)
          if (failure['error.type'] !== undefined) {
            span.setStatus({
              code: SpanStatusCode.ERROR,
              ...(error && { message: error.message }),
            })
          }
        }
        if (id !== undefined) span.setAttribute('jsonrpc.request.id', String(id))
        if (hasContents && outcome.outcome === 'complete') {
          span.setAttributes(attempt(() => contentAttributes(operation, result?.())) ?? {})
        }
        span.end()
        record(operation, outcome, Object.assign(shared, failure))
        if (faults.length > 0) throw faults[0]
      },
    }
  }
}

function kindOf({ type, direction }: Operation): SpanKind {
  if (type === 'refusal' || direction === 'received') return SpanKind.SERVER
  return direction === 'sent' ? SpanKind.CLIENT : SpanKind.INTERNAL
}

/**
 * The parent of a span, and a link to the ambient span if that is not the parent. The ambient span is the span
 * of the active context. It is related to a received message only on a server over HTTP, because such a server is
 * called once for each message. On a duplex connection, and on a client's stream, the active context is the one
 * in which the connection or stream was opened, so its span is ignored.
 */
function parentOf(
  { side, direction, http, trace: carrier = {} }: Operation,
  active: Context,
  baggage: boolean,
): { parent: Context; links: Link[] } {
  if (direction !== 'received') return { parent: active, links: [] }
  const isActiveForMessage = side === 'server' && http === true
  const ambientContext =
    isActiveForMessage || active === ROOT_CONTEXT
      ? active
      : propagation.deleteBaggage(trace.deleteSpan(active))
  const trusted = baggage ? carrier : { ...carrier, baggage: undefined }
  const parent = propagation.extract(ambientContext, trusted)
  const ambient = trace.getSpanContext(ambientContext)
  const isSame = ambient?.spanId === trace.getSpanContext(parent)?.spanId
  return { parent, links: ambient && !isSame ? [{ context: ambient }] : [] }
}

/** The context to send; undefined if there is none. */
function inject(current: Context, baggage: boolean): TraceContext | undefined {
  const carrier: Record<string, string> = {}
  propagation.inject(current, carrier)
  const { traceparent, tracestate, baggage: baggageText } = carrier
  if (!traceparent) return undefined
  return {
    traceparent,
    ...(tracestate && { tracestate }),
    ...(baggage && baggageText && { baggage: baggageText }),
  }
}
