/**
 * Spans and metrics of clients and servers, for OpenTelemetry.
 *
 * @module
 */
export { openTelemetry, type OpenTelemetryOptions } from './observer.ts'
