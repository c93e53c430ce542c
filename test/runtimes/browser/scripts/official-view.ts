// A view built with the official SDK of MCP Apps: it greets its host, and has it call a tool.
import { App } from '@modelcontextprotocol/ext-apps'

const app = new App({ name: 'official-view', version: '1.0.0' }, {})
const input = new Promise((resolve) => {
  app.ontoolinput = (params) => resolve(params.arguments)
})
await app.connect()
const { structuredContent } = await app.callServerTool({ name: 'add', arguments: { a: 1, b: 2 } })
await app.sendLog({ level: 'info', data: { structuredContent, input: await input } })
