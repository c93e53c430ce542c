// The server that the portable suite talks to: one of each thing that a server can offer.
import type { Registration } from '../../src/server/registry.ts'
import { createServer, image, pagesOf, resourceLink, text, uriTemplate } from 'edgewise/server'
import { ToolError } from 'edgewise'
import * as z from 'zod'

export const server = createServer(
  { name: 'portable', version: '1.0.0', title: 'Portable' },
  // What the suite has fail on purpose is not printed.
  { instructions: 'Call add.', pages: pagesOf(3), onError: () => {} },
)

/** A tool that tests show and hide, to change the list of tools. */
export const changing: Registration = server.tool('changing', {}, () => 'seen')
changing.disable()

/** Names of calls of `wait` that began, and of those that were aborted. */
export const running: string[] = []
export const aborted: string[] = []

server.tool(
  'add',
  {
    title: 'Adder',
    description: 'Adds two numbers',
    input: z.object({ a: z.number(), b: z.number() }),
    output: z.object({ sum: z.number() }),
    annotations: { readOnlyHint: true },
  },
  ({ a, b }) => ({ structuredContent: { sum: a + b } }),
)

server.tool('show', { description: 'Every kind of content' }, () => [
  text('æøå 🦉'),
  image(new Uint8Array([0, 1, 254, 255]), 'image/png'),
  resourceLink({ uri: 'note://1', name: 'One' }),
])

server.tool(
  'count',
  { description: 'Reports progress and logs', input: z.object({ to: z.number().int() }) },
  async ({ to }, ctx) => {
    for (let at = 1; at <= to; at++) {
      await ctx.progress(at, { total: to, message: `Step ${at}` })
      await ctx.log('info', { at }, { logger: 'count' })
      await ctx.log('debug', 'too fine to be sent')
    }
    return 'counted'
  },
)

server.tool('refuse', { description: 'Fails in words for the model' }, () => {
  throw new ToolError('No seats left')
})

server.tool('crash', { description: 'Fails with a secret' }, () => {
  throw new Error('password hunter2')
})

server.tool('ask', { description: 'Asks the user' }, async (_args, ctx) => {
  const answer = await ctx.elicit({
    message: 'Which city?',
    schema: z.object({ city: z.string() }),
  })
  return answer.action === 'accept' ? `You said ${answer.content.city}` : answer.action
})

server.tool('sample', { description: 'Asks the model' }, async (_args, ctx) => {
  const { content } = await ctx.sample({
    messages: [{ role: 'user', content: { type: 'text', text: 'Name a bird' } }],
    maxTokens: 10,
  })
  return `The model said ${JSON.stringify(content)}`
})

server.tool('roots', { description: 'Asks for the roots' }, async (_args, ctx) =>
  (await ctx.roots()).map(({ uri }) => uri).join(),
)

server.tool(
  'wait',
  { description: 'Waits until its call is aborted', input: z.object({ name: z.string() }) },
  ({ name }, ctx) =>
    new Promise((resolve) => {
      running.push(name)
      ctx.signal.addEventListener('abort', () => {
        aborted.push(name)
        resolve('aborted')
      })
    }),
)

server.resource('note://1', { name: 'One', mimeType: 'text/plain' }, () => 'The first note')
server.resource(
  'blob://1',
  { name: 'Bytes', mimeType: 'application/octet-stream' },
  () => new Uint8Array([0, 1, 254, 255]),
)
server.resourceTemplate(
  uriTemplate('city://{country}/{name}'),
  {
    name: 'City',
    mimeType: 'text/plain',
    complete: { name: (value) => ['Oslo', 'Bergen'].filter((name) => name.startsWith(value)) },
  },
  ({ variables }) => `${String(variables.name)} in ${String(variables.country)}`,
)

server.prompt(
  'greet',
  {
    description: 'Greets a person',
    input: z.object({ name: z.string() }),
    complete: {
      name: (value) => ['Ada', 'Alan', 'Grace'].filter((name) => name.startsWith(value)),
    },
  },
  ({ name }) => `Say hello to ${name}`,
)
