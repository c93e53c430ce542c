/**
 * Edgewise as a client of the contract, on Node. Without an era it negotiates one.
 */
import { stdioClient } from '../../../runtimes/node/index.ts'
import { commandOf, type Era, type PeerClient, type Target } from '../contract.ts'
import { overEdgewise } from './edgewise-over.ts'

export function connectEdgewise(target: Target, era?: Era): Promise<PeerClient> {
  return overEdgewise('url' in target ? target.url : stdioClient(commandOf(target)), era)
}
