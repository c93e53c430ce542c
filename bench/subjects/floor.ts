/**
 * The floor: the minimum that any server must do, which is to parse the request and to answer with the
 * correct JSON. It checks nothing.
 */
import * as z from 'zod'
import { modernMembers } from '../floor-answer.ts'
import type { Handler, HttpSubject, ToolSet } from '../subject.ts'
import { eachStep, echo, echoInput, searchTools } from '../tools.ts'

interface Call {
  id: number | string
  method: string
  params: { name: string; arguments: { text: string; bytes: number; steps: number } }
}

const encoder = new TextEncoder()

/** A stream of server-sent events: progress, then the result. */
function stream(id: number | string, steps: number, extra: object): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (message: object): void =>
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(message)}\n\n`))
      void eachStep(steps, (progress) =>
        send({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: 'p', progress },
        }),
      ).then((text) => {
        send({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }], ...extra } })
        controller.close()
      })
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const json = { headers: { 'content-type': 'application/json' } }

/** @param initialHeaders Additional headers of the response to `initialize`. */
function create(set: ToolSet, extra: object, initialHeaders = {}): Handler {
  const tools =
    typeof set === 'number'
      ? searchTools(set).map(({ input, ...tool }) => ({
          ...tool,
          inputSchema: z.toJSONSchema(input),
        }))
      : [{ ...echo, inputSchema: z.toJSONSchema(echoInput) }]

  return async (request) => {
    const { id, method, params } = (await request.json()) as Call
    switch (method) {
      case 'tools/call': {
        const { text, bytes, steps } = params.arguments
        if (params.name === 'progress') return stream(id, steps, extra)
        const content = [{ type: 'text', text: text ?? 'x'.repeat(bytes) }]
        return new Response(
          JSON.stringify({ jsonrpc: '2.0', id, result: { content, ...extra } }),
          json,
        )
      }
      case 'tools/list':
        return new Response(
          JSON.stringify({ jsonrpc: '2.0', id, result: { tools, ...extra } }),
          json,
        )
      case 'initialize': {
        const result = {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'floor', version: '1.0.0' },
        }
        return new Response(JSON.stringify({ jsonrpc: '2.0', id, result }), {
          headers: { ...json.headers, ...initialHeaders },
        })
      }
      default:
        return new Response(null, { status: 202 })
    }
  }
}

export const subject: HttpSubject = {
  // Does not read the id, but receives the same requests as the sessions of others
  session: (tools) =>
    create(tools, {}, { 'mcp-session-id': '0b8f1a52-6a0e-4a53-9d3e-0f6a1c2b7d94' }),
  stateless: (tools) => create(tools, {}),
  modern: (tools) => create(tools, modernMembers),
}
