/** The requests of a client that supports tasks. */
import { template, type Template } from './requests.ts'

/** Prepares a request that declares the extension. */
export function taskCall(method: string, params: Record<string, unknown>): Template {
  const { headers, body } = template(method, params, undefined)
  const name = params['taskId'] ?? params['name']
  const [none, declared] = [
    '"io.modelcontextprotocol/clientCapabilities":{}',
    '"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}',
  ]
  return {
    headers: { ...headers, 'mcp-name': String(name) },
    body: (id) => body(id).replace(none, declared),
  }
}
