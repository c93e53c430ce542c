/** mcp-lite, served as its documentation shows. It has no revision 2026-07-28. */
import { InMemorySessionAdapter, McpServer, StreamableHttpTransport } from 'mcp-lite'
import * as z from 'zod'
import type { Handler, HttpSubject, ToolSet } from '../subject.ts'
import { echo, echoInput, large, largeInput, searchTools } from '../tools.ts'

function createServer(set: ToolSet): McpServer {
  const server = new McpServer({
    name: 'mcp-lite',
    version: '1.0.0',
    schemaAdapter: (schema) => z.toJSONSchema(schema as z.ZodType),
  })
  if (set === 'echo') {
    server.tool(echo.name, {
      description: echo.description,
      inputSchema: echoInput,
      handler: ({ text }) => ({ content: [{ type: 'text', text }] }),
    })
  } else if (set === 'streaming') {
    server.tool(large.name, {
      description: large.description,
      inputSchema: largeInput,
      handler: ({ bytes }) => ({ content: [{ type: 'text', text: 'x'.repeat(bytes) }] }),
    })
  } else {
    for (const { name, description, input } of searchTools(set)) {
      server.tool(name, {
        description,
        inputSchema: input,
        handler: ({ query }) => ({ content: [{ type: 'text', text: query }] }),
      })
    }
  }
  return server
}

function serve(set: ToolSet, transport: StreamableHttpTransport): Handler {
  const handle = transport.bind(createServer(set))
  return async (request) => handle(request)
}

export const subject: HttpSubject = {
  session: (set) =>
    serve(
      set,
      new StreamableHttpTransport({
        sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1024 }),
      }),
    ),
  stateless: (set) => serve(set, new StreamableHttpTransport()),
}
