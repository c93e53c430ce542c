import { afterAll, beforeAll, expect, it } from 'vitest'
import { lastMessage, postModern } from '../../transport/streamable-http/post.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

let workerd: Workerd

beforeAll(async () => {
  const script = await bundleWorker('rate-limits-worker.ts')
  const durableObjects = { MCP_RATE_LIMIT: { className: 'McpRateLimit', useSQLite: true } }
  const bindings = { MCP_SECRET: 'a secret of this test only' }
  workerd = await startWorker(script, { durableObjects, bindings })
})
afterAll(() => workerd.stop())

const call = (): Promise<Response> => postModern(workerd.handle, 'tools/call', { name: 'a' })

it('A rate limit in Durable Objects holds across isolates, and is refused with 429 and Retry-After [E-EXT-073] [E-EXT-074]', async () => {
  expect((await call()).status).toBe(200)
  await workerd.restart()
  expect((await call()).status).toBe(200)
  const refused = await call()
  expect(refused.status).toBe(429)
  const retryAfter = Number(refused.headers.get('retry-after'))
  expect(retryAfter).toBeGreaterThan(0)
  expect(retryAfter).toBeLessThanOrEqual(60)
  const { error } = await lastMessage(refused)
  expect(error).toMatchObject({ code: 429, data: { retryAfterMs: expect.any(Number) } })
})
