/**
 * The code that only some connections need: for requests and changes that the server initiates, and for
 * transports other than Streamable HTTP. `load-on-demand.ts` loads this file.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { handledCapabilities } from '../client/features/handled-capabilities.ts'
import { createInteraction } from '../client/features/interaction.ts'
import { httpSse } from '../transport/http-sse/client.ts'
import { keepStreamOpen } from '../transport/streamable-http/standalone-stream.ts'
import { transportTarget } from './transport-target.ts'

/** The functions that are loaded together. */
export interface OnDemand {
  readonly createInteraction: typeof createInteraction
  readonly handledCapabilities: typeof handledCapabilities
  readonly httpSse: typeof httpSse
  readonly keepStreamOpen: typeof keepStreamOpen
  readonly transportTarget: typeof transportTarget
}

export const onDemand: OnDemand = {
  createInteraction,
  handledCapabilities,
  httpSse,
  keepStreamOpen,
  transportTarget,
}
