/**
 * The official SDK v2 as a client of the contract, wherever it runs.
 */
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'

import { newest, textOf, type Era, type PeerClient } from '../contract.ts'

/** Connects over a transport, in an era or in the one that the client negotiates. */
export async function overV2(transport: Transport, era: Era | 'auto'): Promise<PeerClient> {
  const asked: string[] = []
  const client = new Client(
    { name: 'official-v2', version: '1.0.0' },
    {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: era === 'modern' ? { pin: newest.modern } : era },
    },
  )
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { confirm: true } }
  })
  await client.connect(transport)
  return {
    revision: client.getNegotiatedProtocolVersion(),
    serverName: client.getServerVersion()?.name,
    asked,
    dropsLateProgress: true,
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    listPrompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    async callTool(name, args) {
      const progress: number[] = []
      const result = await client.callTool(
        { name, arguments: args },
        { onprogress: (update) => progress.push(update.progress) },
      )
      return { text: textOf(result.content[0]), progress }
    },
    readResource: async (uri) => textOf((await client.readResource({ uri })).contents[0]),
    getPrompt: async (name, args) =>
      textOf((await client.getPrompt({ name, arguments: args })).messages[0]?.content),
    async [Symbol.asyncDispose]() {
      const isHttp = transport instanceof StreamableHTTPClientTransport
      if (era === 'legacy' && isHttp) await transport.terminateSession()
      await client.close()
    },
  }
}
