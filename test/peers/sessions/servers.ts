/**
 * The contract of sessions on Edgewise and on both official SDKs.
 */
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  CreateMessageResultSchema,
  ListRootsResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { McpServer as McpServerV2 } from '@modelcontextprotocol/server'

import { createServer, type Server } from '../../../src/presets/server.ts'
import { pause, textOf } from '../contract.ts'
import { AWAY_MS, memo, RETURNED, SLOW_MS, SLOWLY, STAYED, thought } from './contract.ts'

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

const question = {
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: thought.prompt } }],
  maxTokens: 100,
}

/** Waits until a signal fires. */
const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()))

const placesOf = (roots: readonly { uri: string; name?: string | undefined }[]): string =>
  roots.map(({ uri, name }) => `${name}: ${uri}`).join(', ')

export function createEdgewise(): Server {
  let hanging = 0
  let hung = 0
  const server = createServer({ name: 'edgewise', version: '1.0.0' })
  server.tool('think', {}, async (_args, ctx) => textOf((await ctx.sample(question)).content))
  server.tool('where', {}, async (_args, ctx) => placesOf(await ctx.roots()))
  server.tool('touch', {}, () => {
    server.notify.resourceUpdated(memo.uri)
    return 'touched'
  })
  server.tool('grow', {}, () => {
    server.tool('grown', {}, () => 'grown')
    return 'grown'
  })
  server.tool('hang', {}, async (_args, ctx) => {
    hanging++
    await aborted(ctx.signal)
    hung++
    return 'hung'
  })
  server.tool('hung', {}, () => `${hanging} begun, ${hung} cancelled`)
  server.tool('slow', {}, async (_args, ctx) => {
    await ctx.progress(1)
    await pause(SLOW_MS)
    return SLOWLY
  })
  server.tool('leave', {}, async (_args, ctx) => {
    ctx.disconnect(AWAY_MS)
    await pause(5 * AWAY_MS)
    // Over HTTP+SSE there is but one stream, that of the GET
    return ctx.request?.method === 'POST' ? RETURNED : STAYED
  })
  server.resource(memo.uri, { name: memo.name }, () => memo.text)
  return server
}

export function createV1(): McpServerV1 {
  let hanging = 0
  let hung = 0
  const subscribed = new Set<string>()
  const server = new McpServerV1({ name: 'official-v1', version: '1.0.0' })
  server.server.registerCapabilities({ resources: { subscribe: true } })
  server.registerTool('think', {}, async ({ sendRequest }) => {
    const request = { method: 'sampling/createMessage' as const, params: question }
    return text(textOf((await sendRequest(request, CreateMessageResultSchema)).content))
  })
  server.registerTool('where', {}, async ({ sendRequest }) => {
    return text(
      placesOf((await sendRequest({ method: 'roots/list' }, ListRootsResultSchema)).roots),
    )
  })
  server.registerTool('touch', {}, async () => {
    if (subscribed.has(memo.uri)) await server.server.sendResourceUpdated({ uri: memo.uri })
    return text('touched')
  })
  server.registerTool('grow', {}, () => {
    server.registerTool('grown', {}, () => text('grown'))
    return text('grown')
  })
  server.registerTool('hang', {}, async ({ signal }) => {
    hanging++
    await aborted(signal)
    hung++
    return text('hung')
  })
  server.registerTool('hung', {}, () => text(`${hanging} begun, ${hung} cancelled`))
  server.registerTool('slow', {}, async ({ _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken ?? ''
    const params = { progressToken, progress: 1 }
    await sendNotification({ method: 'notifications/progress', params })
    await pause(SLOW_MS)
    return text(SLOWLY)
  })
  server.registerTool('leave', {}, async ({ closeSSEStream }) => {
    closeSSEStream?.()
    await pause(5 * AWAY_MS)
    return text(closeSSEStream ? RETURNED : STAYED)
  })
  server.registerResource(memo.name, memo.uri, {}, ({ href }) => ({
    contents: [{ uri: href, text: memo.text }],
  }))
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri)
    return {}
  })
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri)
    return {}
  })
  return server
}

export function createV2(): McpServerV2 {
  let hanging = 0
  let hung = 0
  const subscribed = new Set<string>()
  const server = new McpServerV2({ name: 'official-v2', version: '1.0.0' })
  server.server.registerCapabilities({ resources: { subscribe: true } })
  server.registerTool('think', {}, async ({ mcpReq }) => {
    const request = { method: 'sampling/createMessage' as const, params: question }
    return text(textOf((await mcpReq.send(request)).content))
  })
  server.registerTool('where', {}, async ({ mcpReq }) => {
    return text(placesOf((await mcpReq.send({ method: 'roots/list' })).roots))
  })
  server.registerTool('touch', {}, async () => {
    if (subscribed.has(memo.uri)) await server.server.sendResourceUpdated({ uri: memo.uri })
    return text('touched')
  })
  server.registerTool('grow', {}, () => {
    server.registerTool('grown', {}, () => text('grown'))
    return text('grown')
  })
  server.registerTool('hang', {}, async ({ mcpReq }) => {
    hanging++
    await aborted(mcpReq.signal)
    hung++
    return text('hung')
  })
  server.registerTool('hung', {}, () => text(`${hanging} begun, ${hung} cancelled`))
  server.registerTool('slow', {}, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? ''
    const params = { progressToken, progress: 1 }
    await mcpReq.notify({ method: 'notifications/progress', params })
    await pause(SLOW_MS)
    return text(SLOWLY)
  })
  server.registerTool('leave', {}, async ({ http }) => {
    http?.closeSSE?.()
    await pause(5 * AWAY_MS)
    return text(http?.closeSSE ? RETURNED : STAYED)
  })
  server.registerResource(memo.name, memo.uri, {}, ({ href }) => ({
    contents: [{ uri: href, text: memo.text }],
  }))
  server.server.setRequestHandler('resources/subscribe', ({ params }) => {
    subscribed.add(params.uri)
    return {}
  })
  server.server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri)
    return {}
  })
  return server
}
