import { describe, expect, it } from 'vitest'
import { revisions } from '../../src/index.ts'
import { createServer, text } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'

describe.each(revisions.map(({ version }) => version))('steps of a handler, in %s', (revision) => {
  it('give what JSON keeps, and have a name of their own', async () => {
    const seen: unknown[] = []
    const errors: unknown[] = []
    const server = createServer(
      { name: 's', version: '1' },
      { onError: (error) => errors.push(error) },
    )
    server.tool('steps', {}, async (_args, ctx) => {
      // As it is typed too: this would not compile if it were said to be a date
      const date: string = await ctx.step('date', () => new Date(0))
      seen.push(date)
      seen.push(await ctx.step('nothing', () => undefined))
      seen.push(await ctx.step('object', () => ({ a: 1, b: undefined })))
      return text('done')
    })
    server.tool('twice', {}, async (_args, ctx) => {
      await ctx.step('same', () => 1)
      await ctx.step('same', () => 2)
      return text('done')
    })
    const client = await connectInMemory(server, { revision })
    await client.callTool('steps')
    expect(seen).toEqual(['1970-01-01T00:00:00.000Z', undefined, { a: 1 }])
    expect(await client.callTool('twice')).toMatchObject({ isError: true })
    expect(errors).toMatchObject([
      { message: expect.stringContaining('"same" ran already') as unknown },
    ])
    await client.close()
  })
})
