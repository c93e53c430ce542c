/**
 * What an official server asks its client outside of calls, through the program `edgewise bridge`, of
 * an official client.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { expect, it, onTestFinished } from 'vitest'

import { program as edgewise } from '../runtimes/node/cli/run.ts'
import { PATIENCE } from '../patience.ts'
import { commandOf } from './contract.ts'
import { program } from './programs.ts'

it('an official server behind the bridge works in the roots of an official client, and its model uses tools [I005] [I003]', async () => {
  const { command, args } = commandOf(program('roots-v1-stdio'))
  const words = [...edgewise, 'bridge', '--port', '0', '--', command, ...args]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGTERM'))
  const lines = createInterface({ input: child.stdout })
  const url = await new Promise<string>((resolve) => lines.once('line', resolve))

  const capabilities = { roots: { listChanged: true }, sampling: { tools: {} } }
  const client = new Client({ name: 'official-v1', version: '1.0.0' }, { capabilities })
  const roots = [{ uri: 'file:///work' }]
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }))
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
    role: 'assistant',
    content: { type: 'text', text: 'Sunny' },
    model: `a model with ${params.tools?.map(({ name }) => name).join()}`,
  }))
  const transport = new StreamableHTTPClientTransport(new URL(url))
  await client.connect(transport)
  onTestFinished(() => client.close())
  const call = async (name: string): Promise<unknown> => {
    const { content } = (await client.callTool({ name })) as { content: { text: string }[] }
    return content[0]?.text
  }
  await expect.poll(() => call('places'), PATIENCE).toBe('file:///work')
  roots.push({ uri: 'file:///more' })
  await client.sendRootsListChanged()
  await expect.poll(() => call('places'), PATIENCE).toBe('file:///work file:///more')
  expect(await call('think')).toBe('a model with weather')
})
