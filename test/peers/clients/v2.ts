/**
 * The official SDK v2 as a client of the contract, in either era, on Node.
 */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

import type { Era, PeerClient, Target } from '../contract.ts'
import { commandOf } from '../contract.ts'
import { overV2 } from './v2-over.ts'

/** Connects in an era, or in the one that the client negotiates. */
export function connectV2(target: Target, era: Era | 'auto'): Promise<PeerClient> {
  if ('url' in target) return overV2(new StreamableHTTPClientTransport(new URL(target.url)), era)
  return overV2('pipe' in target ? target.pipe : new StdioClientTransport(commandOf(target)), era)
}
