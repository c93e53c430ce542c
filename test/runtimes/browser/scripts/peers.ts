// Clients of the peer tests, in a page: the test calls them by name, through `peers`.
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { overEdgewise } from '../../../peers/clients/edgewise-over.ts'
import { overV2 } from '../../../peers/clients/v2-over.ts'
import type { Era, PeerClient } from '../../../peers/contract.ts'

/** The clients that a page can connect. */
export interface Peers {
  /** Connects one, and gives the number by which it is called. */
  connect(kind: 'edgewise' | 'v2', path: string, era: Era | undefined): Promise<number>
  client(number: number): PeerClient
}

const clients: PeerClient[] = []

const peers: Peers = {
  async connect(kind, path, era) {
    const url = new URL(path, location.href)
    const client =
      kind === 'edgewise'
        ? await overEdgewise(url.href, era)
        : await overV2(new StreamableHTTPClientTransport(url), era ?? 'auto')
    return clients.push(client) - 1
  },
  client(number) {
    const client = clients[number]
    if (!client) throw new Error('There is no such client')
    return client
  },
}

Object.assign(globalThis, { peers })
