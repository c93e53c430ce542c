/** The official SDK v1 with sessions, served as its documentation shows. It has no revision 2026-07-28. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { Handler, HttpSubject, ToolSet } from '../subject.ts'
import { searchTools } from '../tools.ts'

function createServer(set: ToolSet): McpServer {
  if (typeof set !== 'number') throw new TypeError(`Not measured: "${set}"`)
  const server = new McpServer({ name: 'official', version: '1.0.0' })
  for (const { name, description, input } of searchTools(set)) {
    server.registerTool(name, { description, inputSchema: input }, ({ query }) => ({
      content: [{ type: 'text', text: query }],
    }))
  }
  return server
}

function session(set: ToolSet): Handler {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    enableJsonResponse: true,
  })
  const connected = createServer(set).connect(transport)
  return async (request) => {
    await connected
    return transport.handleRequest(request)
  }
}

export const subject: HttpSubject = { session }
