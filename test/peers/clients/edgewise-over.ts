/**
 * Edgewise as a client of the contract, wherever it runs. Without an era it negotiates one.
 */
import { connect, type Transport } from '../../../src/presets/client.ts'
import { newest, textOf, type Era, type PeerClient } from '../contract.ts'

export async function overEdgewise(target: string | Transport, era?: Era): Promise<PeerClient> {
  const asked: string[] = []
  const client = await connect(target, {
    info: { name: 'edgewise', version: '1.0.0' },
    ...(era && { revision: newest[era] }),
    versionCache: new Map(),
    // However slowly a program starts, that must not decide what it is taken for.
    probeTimeoutMs: 60_000,
    onElicit({ message }) {
      asked.push(message)
      return { action: 'accept', content: { confirm: true } }
    },
  })
  return {
    revision: client.revision,
    serverName: client.serverInfo?.name,
    asked,
    dropsLateProgress: false,
    listTools: async () => (await client.listAllTools()).map(({ name }) => name),
    listResources: async () => (await client.listAllResources()).map(({ uri }) => uri),
    listPrompts: async () => (await client.listAllPrompts()).map(({ name }) => name),
    async callTool(name, args) {
      const progress: number[] = []
      const result = await client.callTool(name, args, {
        onProgress: (update) => progress.push(update.progress),
      })
      return { text: textOf(result.content[0]), progress }
    },
    readResource: async (uri) => textOf((await client.readResource(uri)).contents[0]),
    getPrompt: async (name, args) =>
      textOf((await client.getPrompt(name, args)).messages[0]?.content),
    [Symbol.asyncDispose]: () => client.close(),
  }
}
