// A program over stdio that answers with what only looks like content, and answers unasked.
import { createInterface } from 'node:readline'

const blocks = [{ type: 'video', data: 'x' }, { type: 'image' }, { type: 'resource' }, null]
const answers: Record<string, object> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {}, prompts: {}, resources: {} },
    serverInfo: { name: 'odd', version: '1.0.0' },
  },
  'tools/list': { tools: [{ name: 'odd', inputSchema: { type: 'object' } }] },
  'resources/list': { resources: [] },
  'tools/call': { content: blocks },
  'prompts/get': { messages: [{ role: 'user', content: 'plain' }] },
  'resources/read': { contents: [{ uri: 'a:b' }] },
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line) as { id?: number; method: string }
  if (id === undefined) continue
  const result = answers[method]
  const outcome = result ? { result } : { error: { code: -32601, message: 'Method not found' } }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
  if (method === 'initialize') console.log('{"jsonrpc":"2.0","id":"unasked","result":{}}')
}
