// A server with one of everything that the program can use, over HTTP or stdio.
import {
  createServer,
  image,
  text,
  ToolError,
  type Server,
  uriTemplate,
} from '../../../../src/presets/server.ts'
import {
  createServer as createTinyServer,
  type Server as TinyServer,
} from '../../../../src/presets/server-tiny.ts'
import { tasks } from '../../../../src/tasks/index.ts'
import * as z from 'zod'

/** Makes the server. */
export function makeServer(): Server {
  const server = createServer({ name: 'shop', version: '2.0.0' }, { instructions: 'Be polite.' })
  server.tool(
    'add',
    {
      description: 'Adds up.\nIn detail.',
      input: z.object({
        a: z.number(),
        list: z.array(z.number()).optional(),
        note: z.string().optional(),
      }),
      output: z.object({ sum: z.number(), note: z.string().optional() }),
    },
    ({ a, list = [], note }) => ({
      structuredContent: { sum: list.reduce((sum, one) => sum + one, a), ...(note && { note }) },
    }),
  )
  server.extend(tasks({ pollIntervalMs: 50 }))
  server.tool('bake', { task: 'required' }, () => text('Baked'))
  server.tool('fail', {}, () => {
    throw new ToolError('Sold out')
  })
  server.tool('evil', {}, () => text('a\u001B[2Jb'))
  server.tool('look', {}, () => ({ content: [image('aGk=', 'image/png')] }))
  server.tool('ask', {}, async (_args, ctx) => {
    const schema = z.object({ size: z.enum(['s', 'm']).default('m') })
    const answer = await ctx.elicit({ message: 'Which size?', schema })
    return text(answer.action === 'accept' ? `Size ${answer.content.size}` : answer.action)
  })
  server.tool('insist', {}, async (_args, ctx) => {
    const schema = z.object({ name: z.string() })
    return text((await ctx.elicit({ message: 'Who?', schema })).action)
  })
  server.tool(
    'echo',
    {
      input: z.looseObject({
        id: z.string().nullable().optional(),
        either: z.union([z.number(), z.string()]).optional(),
        size: z.enum(['1', '2']).optional(),
        count: z.number().nullable().optional(),
      }),
    },
    (args) => text(JSON.stringify(args)),
  )
  server.tool('long', {}, () => text('line\n'.repeat(200_000)))
  server.tool('change', {}, () => {
    server.tool('brief', {}, () => text('brief')).remove()
    return text('changed')
  })
  server.tool('grow', {}, () => {
    server.tool('late', {}, () => text('late'))
    return text('grown')
  })
  server.resource('shop://list', { name: 'list', description: 'What there is' }, () => 'tea\n')
  server.resource('shop://bytes', { name: 'bytes' }, () => new Uint8Array([0, 255, 10]))
  const known = ['Ada', 'Alan', 'Grace']
  const startingWith = (value: string) => known.filter((one) => one.startsWith(value))
  server.prompt(
    'greet',
    { input: z.object({ who: z.string() }), complete: { who: startingWith } },
    ({ who }) => `Greet ${who}`,
  )
  server.resourceTemplate(
    uriTemplate('shop://of/{who}/{thing}'),
    {
      name: 'thing',
      complete: {
        thing: (value, { who = 'unknown' }) => [`${who}-${value}`],
        who: () => Array.from({ length: 120 }, (_, n) => `w${n}`),
      },
    },
    () => 'tea',
  )
  return server
}

/** Makes a server that offers tools only. */
export function makeTinyServer(): TinyServer {
  const server = createTinyServer({ name: 'kiosk', version: '1.0.0' })
  server.tool('greet', {}, () => text('Hello'))
  return server
}
