/**
 * The floor: what any server must do, which is to parse the request and to answer with the right
 * JSON. It checks nothing.
 */
import * as z from 'zod'
import type { Handler, HttpSubject, ToolSet } from '../subject.ts'
import { echo, echoInput, hundred, searchInput } from '../tools.ts'

interface Call {
  id: number | string
  method: string
  params: { arguments: { text: string } }
}

const json = { headers: { 'content-type': 'application/json' } }

function create(set: ToolSet, extra: object): Handler {
  const tools =
    set === 'echo'
      ? [{ ...echo, inputSchema: z.toJSONSchema(echoInput) }]
      : hundred.map((tool) => ({ ...tool, inputSchema: z.toJSONSchema(searchInput) }))

  return async (request) => {
    const { id, method, params } = (await request.json()) as Call
    switch (method) {
      case 'tools/call': {
        const content = [{ type: 'text', text: params.arguments.text }]
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
        return new Response(JSON.stringify({ jsonrpc: '2.0', id, result }), json)
      }
      default:
        return new Response(null, { status: 202 })
    }
  }
}

const modernExtra = {
  resultType: 'complete',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'floor', version: '1.0.0' } },
}

export const subject: HttpSubject = {
  stateless: (tools) => create(tools, {}),
  modern: (tools) => create(tools, modernExtra),
}
