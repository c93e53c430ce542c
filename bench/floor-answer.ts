/** The responses of floors without fetch: the correct JSON, without checking anything else. */

/** A request, or a notification when it has no id. */
export interface Call {
  id?: number | string
  method: string
  params: { arguments: { text: string } }
}

/** The members that a result of 2026-07-28 has in addition. */
export const modernMembers = {
  resultType: 'complete',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'floor', version: '1.0.0' } },
}

/**
 * Returns the response to a request, as text.
 *
 * @param members Further members of the result of a call.
 */
export function answer({ id, method, params }: Call, members: object = {}): string {
  const result =
    method === 'tools/call'
      ? { content: [{ type: 'text', text: params.arguments.text }], ...members }
      : {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'floor', version: '1.0.0' },
        }
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}
