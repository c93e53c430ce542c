/** A server whose every answer holds as much as any revision knows. */
import * as z from 'zod'
import { ToolError, UrlElicitationRequired } from '../../src/index.ts'
import { createServer, json, pagesOf, type Server, uriTemplate } from '../../src/presets/server.ts'
import type { CreateMessageParams, ObjectSchema } from '../../src/protocol/types.ts'
import { contents, formParams, implementation, samplingParams, tool } from '../protocol/rich.ts'

const { icons = [], _meta: meta = {}, annotations: hints = {} } = tool
const annotations = { audience: ['user' as const], priority: 1, lastModified: '2026-01-01' }
const described = { title: 'A title', description: 'A description', icons, meta }

/** What the form's fields that are no lists hold once they are filled in. */
export const filled: Readonly<Record<string, string | number | boolean>> = {
  city: 'Oslo',
  mail: 'a@b.example',
  nights: 3,
  price: 2.5,
  breakfast: true,
  plain: 'a',
  old: 'b',
  titled: 's',
}

/** Makes the server; `seen` holds what handlers got from the client. */
export function makeRichServer(): { server: Server; seen: unknown[]; changing: () => void } {
  const seen: unknown[] = []
  const server = createServer(implementation, {
    instructions: 'Use everything',
    pages: pagesOf(2),
    capabilities: { experimental: { 'com.example/x': { a: 1 } } },
    cache: { ttlMs: 1, cacheScope: 'public' },
  })
  const noted = (value: unknown): string => {
    seen.push(value)
    return JSON.stringify(value)
  }

  server.tool('content', { ...described, annotations: hints }, () => ({
    content: contents,
    _meta: meta,
  }))
  server.tool(
    'structured',
    {
      ...described,
      output: z.object({ reference: z.string() }),
      input: z.object({ a: z.number() }),
    },
    ({ a }) => ({ structuredContent: { reference: `${a}` } }),
  )
  server.tool('list', {}, () => json([1, 2]))
  server.tool('nothing', {}, () => [])
  server.tool('toolError', {}, () => {
    throw new ToolError('No seats left')
  })
  server.tool('crash', {}, () => {
    throw new Error('secret')
  })
  server.tool('form', {}, async (_args, ctx) => {
    const { message, requestedSchema } = formParams
    const schema = requestedSchema as ObjectSchema
    return noted(await ctx.elicit({ message: String(message), schema }))
  })
  server.tool('url', {}, async (_args, ctx) => {
    const answer = await ctx.elicitUrl({ message: 'Sign in', url: 'https://example.com/in' })
    if (answer.elicitationId) server.notify.elicitationComplete(answer.elicitationId)
    return answer.action
  })
  server.tool('needsUrl', {}, (_args, ctx) => {
    if (ctx.inputResponses) return 'visited'
    const page = { mode: 'url', elicitationId: 'e1', message: 'Pay', url: 'https://example.com/' }
    throw new UrlElicitationRequired([{ ...page, mode: 'url' }])
  })
  server.tool('sample', {}, async (_args, ctx) => {
    const { tools, toolChoice, ...plain } = samplingParams
    const all = ctx.client.capabilities.sampling?.tools ? { ...plain, tools, toolChoice } : plain
    return noted(await ctx.sample(all as unknown as CreateMessageParams))
  })
  server.tool('roots', {}, async (_args, ctx) => noted(await ctx.roots()))
  server.tool('rounds', {}, (_args, ctx) => {
    if (ctx.inputResponses) return noted([ctx.inputResponses, ctx.requestState])
    return {
      resultType: 'input_required',
      inputRequests: { where: { method: 'roots/list' } },
      requestState: 'mine',
    }
  })
  server.tool('work', {}, async (_args, ctx) => {
    await ctx.progress(0.5, { total: 2, message: 'half' })
    await ctx.progress(1)
    await ctx.log('info', null, { logger: 'worker' })
    await ctx.log('emergency', { deep: [1, 'two', { three: 3 }] })
    await ctx.log('warning', 7)
    return 'done'
  })
  server.tool('wait', {}, async (_args, ctx) => {
    seen.push('waiting')
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
    seen.push('cancelled')
    return 'too late'
  })
  const changing = server.tool('changing', {}, () => 'seen')

  const resource = { ...described, mimeType: 'text/plain', size: 5, annotations }
  server.resource('note://one', { ...resource, name: 'one' }, () => 'First')
  server.resource('note://bytes', { ...resource, name: 'bytes' }, () => new Uint8Array([0, 255]))
  server.resource('note://many', { ...resource, name: 'many' }, ({ uri }) => ({
    contents: [
      { uri, text: 'a', mimeType: 'text/plain', _meta: meta },
      { uri: `${uri}/b`, blob: 'AAAA', _meta: meta },
    ],
    _meta: meta,
  }))
  const { size: _, ...family } = resource
  server.resourceTemplate(
    uriTemplate('city://{country}/{name}'),
    {
      ...family,
      name: 'city',
      complete: { name: (value, context) => [value, ...Object.values(context)] },
    },
    ({ variables }) => String(variables.name),
  )
  const input = z.object({
    who: z.string().meta({ title: 'Who' }).describe('Whom'),
    how: z.string().optional(),
  })
  server.prompt('greet', { ...described, input, complete: { who: () => ['Ada'] } }, ({ who }) => ({
    description: 'A greeting',
    messages: [
      ...contents.map((content) => ({ role: 'user' as const, content })),
      { role: 'assistant', content: { type: 'text', text: who } },
    ],
    _meta: meta,
  }))
  server.prompt('plain', {}, () => 'Hello')
  server.prompt('third', {}, () => 'Third')
  return {
    server,
    seen,
    changing() {
      changing.disable()
      changing.enable()
      server.notify.promptsListChanged()
      server.notify.resourcesListChanged()
      server.notify.resourceUpdated('note://one')
    },
  }
}
