/** The official SDK v2, served as its documentation shows. */
import {
  createMcpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Handler, HttpSubject, ToolSet } from '../subject.ts'
import {
  eachStep,
  echo,
  echoInput,
  large,
  largeInput,
  progress,
  progressInput,
  searchTools,
} from '../tools.ts'

/** A server with its tools; the SDK needs a new one for each request or session. */
export function createServer(set: ToolSet): McpServer {
  const server = new McpServer({ name: 'official', version: '1.0.0' })
  if (set === 'echo') {
    const config = { description: echo.description, inputSchema: echoInput }
    server.registerTool(echo.name, config, ({ text }) => ({ content: [{ type: 'text', text }] }))
  } else if (typeof set === 'number') {
    for (const { name, description, input } of searchTools(set)) {
      const config = { description, inputSchema: input }
      server.registerTool(name, config, ({ query }) => ({
        content: [{ type: 'text', text: query }],
      }))
    }
  } else {
    const config = { description: large.description, inputSchema: largeInput }
    server.registerTool(large.name, config, ({ bytes }) => ({
      content: [{ type: 'text', text: 'x'.repeat(bytes) }],
    }))
    const progressConfig = { description: progress.description, inputSchema: progressInput }
    server.registerTool(progress.name, progressConfig, async ({ steps }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken ?? ''
      const text = await eachStep(steps, (step) =>
        mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress: step },
        }),
      )
      return { content: [{ type: 'text', text }] }
    })
  }
  return server
}

function stateless(set: ToolSet): Handler {
  const handler = createMcpHandler(() => createServer(set))
  return (request) => handler.fetch(request)
}

function session(set: ToolSet): Handler {
  const transports = new Map<string, WebStandardStreamableHTTPServerTransport>()
  return async (request) => {
    const id = request.headers.get('mcp-session-id')
    const known = id === null ? undefined : transports.get(id)
    if (known) return known.handleRequest(request)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      enableJsonResponse: true,
      onsessioninitialized: (sessionId) => {
        transports.set(sessionId, transport)
      },
    })
    await createServer(set).connect(transport)
    return transport.handleRequest(request)
  }
}

export const subject: HttpSubject = { session, stateless, modern: stateless }
