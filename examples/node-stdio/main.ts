// Starts the server in this folder, calls it, and shuts it down.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { connect } from 'edgewise/client'
import { stdioClient } from 'edgewise/node'

const server = fileURLToPath(new URL('server.ts', import.meta.url))
const log: string[] = []

const transport = stdioClient({
  command: process.execPath,
  args: ['--import', 'tsx', server],
  stderr: (text) => log.push(text),
})
const client = await connect(transport)

const { content } = await client.callTool('greet', { name: 'Ada' })
assert.deepEqual(content, [{ type: 'text', text: 'Hello, Ada!' }])

await client.close()
assert.equal(transport.pid, undefined)
assert.equal(log.join(''), 'Greeting Ada\n')

console.log('Greeted over stdio')
