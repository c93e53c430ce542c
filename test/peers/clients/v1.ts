/**
 * The official SDK v1 as a client of the contract.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

import type { PeerClient, Target } from '../contract.ts'
import { commandOf, textOf } from '../contract.ts'

export async function connectV1(target: Target): Promise<PeerClient> {
  const asked: string[] = []
  const client = new Client(
    { name: 'official-v1', version: '1.0.0' },
    { capabilities: { elicitation: {} } },
  )
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { confirm: true } }
  })
  const http = 'url' in target ? new StreamableHTTPClientTransport(new URL(target.url)) : undefined
  const transport: Transport =
    http ?? ('pipe' in target ? target.pipe : new StdioClientTransport(commandOf(target)))
  // v1 passes the revision to its transport only.
  let revision: string | undefined
  const setProtocolVersion = transport.setProtocolVersion?.bind(transport)
  transport.setProtocolVersion = (version) => {
    revision = version
    setProtocolVersion?.(version)
  }
  await client.connect(transport)
  return {
    revision,
    serverName: client.getServerVersion()?.name,
    asked,
    dropsLateProgress: true,
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    listPrompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    async callTool(name, args) {
      const progress: number[] = []
      const result = await client.callTool({ name, arguments: args }, undefined, {
        onprogress: (update) => progress.push(update.progress),
      })
      return { text: textOf(Array.isArray(result.content) && result.content[0]), progress }
    },
    readResource: async (uri) => textOf((await client.readResource({ uri })).contents[0]),
    getPrompt: async (name, args) =>
      textOf((await client.getPrompt({ name, arguments: args })).messages[0]?.content),
    async [Symbol.asyncDispose]() {
      await http?.terminateSession()
      await client.close()
    },
  }
}
