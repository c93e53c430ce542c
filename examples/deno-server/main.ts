#!/usr/bin/env -S deno run --allow-net=127.0.0.1
// Serves a server over HTTP on Deno, and calls it.
import assert from 'node:assert/strict'
import { connect } from 'edgewise/client'
import { serve } from 'edgewise/deno'
import { createServer, text } from 'edgewise/server'
import * as z from 'zod'

const server = createServer({ name: 'shouter', version: '1.0.0' })

server.tool('shout', { input: z.object({ word: z.string() }) }, ({ word }) =>
  text(word.toUpperCase()),
)

// With port 0, the system chooses a free port. The path is /mcp by default.
const http = await serve(server, { port: 0 })

const client = await connect(http.url)
const { content } = await client.callTool('shout', { word: 'hello' })
assert.deepEqual(content, [{ type: 'text', text: 'HELLO' }])

await client.close()
await http.close()

console.log('Shouted over HTTP from Deno')
