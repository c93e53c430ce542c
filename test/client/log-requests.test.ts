import { expect, it, vi } from 'vitest'
import * as z from 'zod'
import { logRequests, ProtocolError, SdkError, middleware } from '../../src/presets/client.ts'
import { createServer, ToolError } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'

it('logRequests writes one record for each request, with its level, and neither arguments nor results', async () => {
  const server = createServer({ name: 's', version: '1' })
  server.tool('greet', { input: z.object({ name: z.string() }) }, ({ name }) => `Hello, ${name}`)
  server.tool('fail', {}, () => {
    throw new ToolError('Not now')
  })
  const records: [level: string, record: object][] = []
  const log = (level: string) => (record: object) => void records.push([level, record])
  const logger = { debug: log('debug'), warn: log('warn'), error: log('error') }
  const client = await connectInMemory(server)
  client.use(logRequests(logger, { server: 'travel' }))
  let failure: Error | undefined
  client.use(
    middleware((_request, _ctx, next) => {
      if (failure) throw failure
      return next()
    }),
  )
  await client.callTool('greet', { name: 's3cr3t' })
  await client.callTool('fail')
  await expect(client.readResource('https://ada:s3cr3t@a.example/')).rejects.toThrow()
  failure = new SdkError('NETWORK', 'Cannot reach "https://a.example/?token=s3cr3t"')
  await expect(client.ping()).rejects.toBe(failure)
  failure = new ProtocolError(-32602, 'No')
  await expect(client.getPrompt('p')).rejects.toBe(failure)
  expect(records).toMatchObject([
    ['debug', { msg: 'tools/call', method: 'tools/call', name: 'greet', server: 'travel' }],
    ['warn', { name: 'fail', isError: true, durationMs: expect.any(Number) }],
    ['error', { method: 'resources/read', uri: 'https://[redacted]@a.example/' }],
    ['warn', { err: { code: 'NETWORK' } }],
    ['error', { method: 'prompts/get', name: 'p', err: { code: -32602 } }],
  ])
  expect(JSON.stringify(records)).not.toContain('s3cr3t')
  await client.close()
})

it('logRequests fails no request if its logger fails', async () => {
  const problems: unknown[] = []
  const report = vi.spyOn(console, 'error').mockImplementation((error) => problems.push(error))
  const server = createServer({ name: 's', version: '1' })
  server.tool('greet', {}, () => 'Hello')
  const client = await connectInMemory(server)
  const full = (): never => {
    throw new Error('The disk is full')
  }
  client.use(logRequests({ debug: full, warn: full, error: full }))
  expect(await client.callTool('greet')).toMatchObject({ content: [{ text: 'Hello' }] })
  await expect(client.callTool('none')).rejects.toMatchObject({ code: -32602 })
  expect(problems).toEqual([new Error('The disk is full'), new Error('The disk is full')])
  report.mockRestore()
  await client.close()
})
