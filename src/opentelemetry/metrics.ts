/**
 * The metrics of the semantic conventions for MCP.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/#metrics
 */
import { metrics, type Attributes, type Histogram, type MeterProvider } from '@opentelemetry/api'
import type { Operation, Outcome } from '../protocol/observation.ts'

/** The boundaries of the buckets, in seconds. */
const BOUNDARIES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** Records the duration of an operation that has ended. */
export type Recorder = (operation: Operation, outcome: Outcome, attributes: Attributes) => void

/**
 * Creates the function that records durations. The metrics are created when they are first needed, so
 * that the global provider may be set after this call.
 */
export function createRecorder(
  provider: MeterProvider = metrics,
  scope: readonly [name: string, version: string],
): Recorder {
  const histograms = new Map<string, Histogram>()
  const histogram = (name: string): Histogram => {
    let found = histograms.get(name)
    if (!found) {
      const advice = { explicitBucketBoundaries: BOUNDARIES }
      found = provider.getMeter(...scope).createHistogram(name, { unit: 's', advice })
      histograms.set(name, found)
    }
    return found
  }
  return (operation, outcome, attributes) => {
    const name = metricOf(operation)
    if (name === undefined) return
    if (operation.type === 'session') delete attributes['network.transport']
    histogram(name).record(outcome.durationMs / 1000, attributes)
  }
}

function metricOf({ type, side, direction, method, isResumed }: Operation): string | undefined {
  if (type === 'session') return isResumed ? undefined : `mcp.${side}.session.duration`
  const isMessage = type === 'request' || type === 'notification' || type === 'refusal'
  if (!isMessage || method === undefined) return undefined
  return direction === 'sent' ? 'mcp.client.operation.duration' : 'mcp.server.operation.duration'
}
