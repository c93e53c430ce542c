/** Client and server in one process, by row label. */
import type { Client } from '@modelcontextprotocol/client'
import type { Revision } from 'edgewise'

/** Calls the echo tool and resolves with the text of its result. */
type Echo = (text: string) => Promise<string>

interface Answer {
  content: readonly unknown[]
}

function textOf({ content }: Answer): string {
  const [block] = content as readonly { text?: string }[]
  return block?.text ?? ''
}

async function floor(): Promise<Echo> {
  const echo = async ({ text }: { text: string }) => ({ content: [{ type: 'text', text }] })
  return async (text) => textOf(await echo({ text }))
}

async function official(): Promise<Echo> {
  const [{ Client, InMemoryTransport }, { createServer }] = await Promise.all([
    import('@modelcontextprotocol/client'),
    import('./official.ts'),
  ])
  const [near, far] = InMemoryTransport.createLinkedPair()
  const client: Client = new Client({ name: 'bench', version: '1.0.0' })
  await Promise.all([createServer('echo').connect(far), client.connect(near)])
  return async (text) => textOf(await client.callTool({ name: 'echo', arguments: { text } }))
}

async function edgewise(revision: Revision): Promise<Echo> {
  const [{ connectInMemory }, { createEdgewise }] = await Promise.all([
    import('edgewise/testing'),
    import('./edgewise-server.ts'),
  ])
  const client = await connectInMemory(createEdgewise('echo'), { revision })
  return async (text) => textOf(await client.callTool('echo', { text }))
}

export const subjects: Record<string, () => Promise<Echo>> = {
  floor,
  'edgewise modern': () => edgewise('2026-07-28'),
  'edgewise legacy': () => edgewise('2025-11-25'),
  'official v2': official,
}
