import { afterEach, describe, expect, it } from 'vitest'
import { ProtocolError } from '../../src/index.ts'
import { text } from '../../src/server/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import type { Client } from '../../src/client/index.ts'
import { makeServer } from './fixture.ts'

const open: Client[] = []

afterEach(async () => {
  for (const client of open.splice(0)) await client.close()
})

async function connected(made = makeServer()) {
  const client = await connectInMemory(made.server)
  open.push(client)
  return { ...made, client }
}

describe('middleware', () => {
  it('wraps every request or those of one method, the first outermost', async () => {
    const made = makeServer()
    const order: string[] = []
    made.server.use(async ({ method }, _ctx, next) => {
      order.push(`all ${method}`)
      const result = await next()
      order.push('all done')
      return result
    })
    made.server.use('tools/call', async ({ params }, _ctx, next) => {
      order.push(`call ${String(params.name)}`)
      return next()
    })
    const { client } = await connected(made)
    order.length = 0
    await client.callTool('add', { a: 1, b: 2 })
    expect(order).toEqual(['all tools/call', 'call add', 'all done'])
  })

  it('may answer itself, change the result, or refuse', async () => {
    const made = makeServer()
    made.server.use('tools/call', async ({ params }, _ctx, next) => {
      if (params.name === 'fail') throw new ProtocolError(-32602, 'Not today')
      if (params.name === 'chat') return { content: [text('cached')] }
      return { ...(await next()), _meta: { 'com.example/seen': true } }
    })
    const { client, ran } = await connected(made)
    await expect(client.callTool('fail', {})).rejects.toMatchObject({ message: 'Not today' })
    expect(await client.callTool('chat', {})).toMatchObject({ content: [{ text: 'cached' }] })
    expect(await client.callTool('add', { a: 1, b: 2 })).toMatchObject({
      structuredContent: { sum: 3 },
      _meta: { 'com.example/seen': true },
    })
    expect(ran).toEqual(['add'])
  })

  it('that fails is told as an internal error, its detail to the author only', async () => {
    const made = makeServer()
    made.server.use('tools/list', () => Promise.reject(new Error('secret')))
    const { client, errors } = await connected(made)
    const error = await client.listAllTools().catch((e: unknown) => e)
    expect(error).toMatchObject({ code: -32603, message: 'Internal error' })
    expect(errors).toMatchObject([{ message: 'secret' }])
  })
})
