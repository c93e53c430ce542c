/**
 * Handles what a server initiates: requests for input, and notifications of changes. Loaded on demand.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import type { Connection } from '../connection.ts'
import type { ConnectOptions } from '../options.ts'
import { HandlerRunner } from './input-handlers.ts'
import { Subscriptions } from './subscriptions.ts'

/** The handlers of one server's requests and changes. */
export interface Interaction {
  readonly input: HandlerRunner
  readonly subscriptions: Subscriptions
}

/** Creates the handlers of the requests and changes of a connection's server. */
export function createInteraction(connection: Connection, options: ConnectOptions): Interaction {
  return {
    input: new HandlerRunner(connection, options),
    subscriptions: new Subscriptions(connection, options),
  }
}
