/**
 * The W3C trace context in the `_meta` of messages.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import type { TraceContext } from './observation.ts'
import type { JsonObject } from './types.ts'
import { isObject } from './validate.ts'

/** Only versions later than 00 may have more fields, of which at most 512 characters are accepted. */
const TRACEPARENT =
  /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.{0,512})?$/
/**
 * A rough check of `tracestate` and `baggage`: printable ASCII and tabs, at most 8,192 characters.
 */
const PRINTABLE = /^[\x20-\x7e\t]{1,8192}$/

/**
 * Reads the trace context from `_meta`; members that do not match the W3C's formats are skipped.
 */
export function readTrace(params: JsonObject | undefined): TraceContext {
  const { traceparent, tracestate, baggage } = (params?._meta ?? {}) as Record<string, unknown>
  return {
    traceparent: matching(TRACEPARENT, traceparent),
    tracestate: matching(PRINTABLE, tracestate),
    baggage: matching(PRINTABLE, baggage),
  }
}

function matching(format: RegExp, value: unknown): string | undefined {
  return typeof value === 'string' && format.test(value) ? value : undefined
}

/**
 * Returns the params with a trace context in their `_meta`, where it replaces any other trace context.
 */
export function withTrace(
  params: JsonObject | undefined,
  trace: TraceContext | undefined,
): JsonObject | undefined {
  if (!trace) return params
  const { _meta } = params ?? {}
  // `Object.assign` is faster here: on Node 20, adding members to a spread object takes microseconds
  return Object.assign({}, params, { _meta: Object.assign({}, withoutTrace(_meta), trace) })
}

const TRACE_MEMBERS = ['traceparent', 'tracestate', 'baggage'] as const

/** Returns `_meta` without its trace context, whose members have no meaning without each other. */
function withoutTrace(meta: unknown): unknown {
  if (!isObject(meta) || !TRACE_MEMBERS.some((name) => name in meta)) return meta
  const { traceparent: _parent, tracestate: _state, baggage: _baggage, ...others } = meta
  return others
}
