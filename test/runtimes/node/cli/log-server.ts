// A program of 2025-11-25 over stdio in which nothing changes, but that sends a log.
import { createInterface } from 'node:readline'

const result = {
  protocolVersion: '2025-11-25',
  capabilities: { logging: {} },
  serverInfo: { name: 'log', version: '1.0.0' },
}
const params = { level: 'info', data: 'Up' }

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line) as { id?: number; method: string }
  if (method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
  else console.log(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params }))
}
