/** The responses of floors without fetch: the correct JSON, without checking anything else. */

/** A request, or a notification when it has no id. */
export interface Call {
  id?: number | string
  method: string
  params: { arguments: { text: string } }
}

/** Returns the response to a request, as text. */
export function answer({ id, method, params }: Call): string {
  const result =
    method === 'tools/call'
      ? { content: [{ type: 'text', text: params.arguments.text }] }
      : {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'floor', version: '1.0.0' },
        }
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}
