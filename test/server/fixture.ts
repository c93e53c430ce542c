/** A server with one of everything, and counts of what ran. */
import * as z from 'zod'
import {
  createServer,
  text,
  ToolError,
  type Server,
  type ServerOptions,
  uriTemplate,
} from '../../src/presets/server.ts'

/** Makes the server; `ran` holds the names of the handlers that were run. */
export function makeServer(options: ServerOptions = {}): {
  server: Server
  ran: string[]
  errors: unknown[]
} {
  const ran: string[] = []
  const errors: unknown[] = []
  const server = createServer(
    { name: 'fixture', version: '1.0.0' },
    { instructions: 'Use wisely', onError: (error) => errors.push(error), ...options },
  )
  server.tool(
    'add',
    {
      description: 'Adds two numbers.',
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ sum: z.number() }),
    },
    ({ a, b }) => {
      ran.push('add')
      return { structuredContent: { sum: a + b } }
    },
  )
  server.tool('fail', { input: z.object({ how: z.string() }) }, ({ how }) => {
    ran.push('fail')
    throw how === 'ToolError' ? new ToolError('Out of stock') : new Error('secret of /etc/passwd')
  })
  server.tool('chat', { input: z.object({}) }, async (_args, ctx) => {
    ran.push('chat')
    await ctx.progress(1, { total: 2, message: 'half' })
    await ctx.log('info', { note: 'halfway' }, { logger: 'chat' })
    await ctx.progress(1)
    await ctx.progress(2, { total: 2 })
    return text('done')
  })
  server.tool('confirm', { input: z.object({ what: z.string() }) }, async ({ what }, ctx) => {
    ran.push('confirm')
    const price = await ctx.step('price', () => {
      ran.push('price')
      return 42
    })
    const answer = await ctx.elicit({
      message: `Buy ${what} for ${price}?`,
      schema: z.object({ yes: z.boolean() }),
    })
    return text(answer.action === 'accept' ? `bought: ${answer.content.yes}` : answer.action)
  })
  server.tool('wait', { input: z.object({}) }, async (_args, ctx) => {
    ran.push('wait')
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
    ran.push('aborted')
    return text('too late')
  })
  server.resource('note://one', { name: 'one', mimeType: 'text/plain' }, () => 'First note')
  server.resource('note://bytes', { name: 'bytes' }, () => new Uint8Array([1, 2, 3]))
  server.resourceTemplate(
    uriTemplate('user://{id}/profile'),
    { name: 'profile', complete: { id: (value) => [`${value}1`, `${value}2`] } },
    ({ variables: { id } }) => (id === 'unknown' ? undefined : `Profile of ${String(id)}`),
  )
  server.prompt(
    'greet',
    {
      description: 'Greets.',
      input: z.object({ who: z.string().describe('Whom to greet') }),
      complete: { who: (value) => Array.from({ length: 150 }, (_, n) => `${value}${n}`) },
    },
    ({ who }) => `Hello, ${who}!`,
  )
  return { server, ran, errors }
}
