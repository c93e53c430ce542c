/**
 * An official v1 server that works in the client's roots, as the official filesystem server does: it
 * asks for them once the client is initialized, and whenever they have changed.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { RootsListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'

const mcp = new McpServer({ name: 'official-v1-roots', version: '1.0.0' })
const { server } = mcp
let places: string[] = []

async function look(): Promise<void> {
  places = (await server.listRoots()).roots.map(({ uri }) => uri)
}

server.oninitialized = () => {
  if (server.getClientCapabilities()?.roots) look().catch(console.error)
}
server.setNotificationHandler(RootsListChangedNotificationSchema, look)

mcp.registerTool('places', {}, () => ({ content: [{ type: 'text', text: places.join(' ') }] }))
mcp.registerTool('think', {}, async () => {
  const { model } = await server.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: 'Weather?' } }],
    maxTokens: 10,
    tools: [{ name: 'weather', inputSchema: { type: 'object' } }],
  })
  return { content: [{ type: 'text', text: model }] }
})

await mcp.connect(new StdioServerTransport())
