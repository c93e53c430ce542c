import { describe, expect, it } from 'vitest'
import type { SendNotification } from '../../src/server/features/extensions.ts'
import { clientExtension } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/index.ts'
import { createHandler, createServer, text, serverExtension } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import {
  connectTo,
  discovered,
  duplexPeer,
  everything,
  httpPeer,
  legacyPeer,
  modernPeer,
  refuse,
  reply,
  result,
  until,
  type HttpPeer,
} from './peers.ts'

const ID = 'com.example/jobs'
const OFFERED = { ...everything, extensions: { [ID]: {} } }

/** Follows a job until it is done. */
const jobs = clientExtension({
  id: ID,
  settings: { depth: 2 },
  nameParams: { 'jobs/get': 'jobId' },
  resultTypes: {
    job: async ({ jobId }, { client, method, options }) => {
      if (method !== 'tools/call') throw new TypeError('Only tools have jobs')
      const { result: complete } = await client.request('jobs/get', { jobId }, options)
      return complete as JsonObject
    },
  },
})

/** A server whose tool gives a job, and whose job is done. */
function jobPeer(capabilities: JsonObject = OFFERED, complete: JsonObject = done): HttpPeer {
  return modernPeer((request) => {
    return request.message.method === 'jobs/get'
      ? result(request, { resultType: 'complete', result: complete })
      : result(request, { resultType: 'job', jobId: 'ä1' })
  }, capabilities)
}

const done = { content: [{ type: 'text', text: 'done' }] }

describe('extensions of a client', () => {
  it.each(['jobs', '/jobs', 'com.example/', '1.x/y', ''])(
    'cannot have the id "%s" [M-VER-015]',
    (id) => {
      expect(() => clientExtension({ id })).toThrow(`"${id}" is not an extension id`)
    },
  )

  it('are declared on every request, with their settings; none by default [M-VER-016] [M-VER-018] [M-META-005]', async () => {
    const peer = jobPeer()
    const extensions = [jobs, clientExtension({ id: 'com.example/other' })]
    const capabilities = { extensions: { 'com.example/own': {} } }
    const client = await connectTo(peer, { extensions, capabilities })
    await client.callTool('work')
    expect(peer.requests.map(({ message }) => message.method)).toEqual([
      'server/discover',
      'tools/call',
      'jobs/get',
    ])
    for (const { message } of peer.requests) {
      const meta = message.params?._meta as JsonObject
      expect(meta['io.modelcontextprotocol/clientCapabilities']).toEqual({
        extensions: { [ID]: { depth: 2 }, 'com.example/other': {}, 'com.example/own': {} },
      })
    }
    const plain = jobPeer()
    await connectTo(plain)
    expect(JSON.stringify(plain.requests[0]?.message)).not.toContain('extensions')
  })

  it('are declared to servers with sessions', async () => {
    const peer = legacyPeer((request) => result(request, done))
    await connectTo(peer, { extensions: [jobs] })
    const [opening] = peer.received('initialize')
    expect(opening?.message.params).toHaveProperty('capabilities.extensions', {
      [ID]: { depth: 2 },
    })
  })
})

describe('a result of a type that an extension adds', () => {
  it('is followed until it is complete [M-BASE-014]', async () => {
    const peer = jobPeer()
    const client = await connectTo(peer, { extensions: [jobs] })
    expect(await client.callTool('work')).toEqual(done)
  })

  it('sends the name of its subject in the headers of later requests [M-HDR-077]', async () => {
    const peer = jobPeer()
    const client = await connectTo(peer, { extensions: [jobs] })
    await client.callTool('work')
    const [asked] = peer.received('jobs/get')
    expect(asked?.headers.get('mcp-method')).toBe('jobs/get')
    expect(asked?.headers.get('mcp-name')).toBe('=?base64?w6Qx?=')
  })

  it('is returned to a caller that requests it', async () => {
    const client = await connectTo(jobPeer(), { extensions: [jobs] })
    const handed = await client.callTool('work', {}, { input: 'manual' })
    expect(handed).toMatchObject({ resultType: 'job', jobId: 'ä1' })
  })

  it('is invalid unless client and server both declare the extension [M-BASE-013] [M-VER-017]', async () => {
    for (const client of [
      await connectTo(jobPeer()),
      await connectTo(jobPeer(everything), { extensions: [jobs] }),
      await connectTo(jobPeer(), { extensions: [clientExtension({ id: ID })] }),
    ]) {
      await expect(client.callTool('work')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    }
  })

  it('fails with the error of its follower, or if the follower returns no result of the method [M-VER-022]', async () => {
    const client = await connectTo(jobPeer(), { extensions: [jobs] })
    await expect(client.getPrompt('p')).rejects.toThrow('Only tools have jobs')
    const bad = await connectTo(jobPeer(OFFERED, { content: 'no' }), { extensions: [jobs] })
    await expect(bad.callTool('work')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
  })

  it('is known by its own names only', async () => {
    const peer = modernPeer((request) => result(request, { resultType: 'constructor' }), OFFERED)
    const client = await connectTo(peer, { extensions: [jobs] })
    await expect(client.callTool('work')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
  })
})

describe('an unknown extension', () => {
  it.each([[{ 'com.x/y': { z: 1 }, nonsense: true }], [null], ['x']])(
    'of a server changes nothing: %j [M-VER-020]',
    async (extensions) => {
      const peer = httpPeer((request) =>
        request.message.method === 'server/discover'
          ? result(request, discovered({ tools: {}, extensions }))
          : result(request, { resultType: 'complete', ...done }),
      )
      const client = await connectTo(peer, { extensions: [jobs] })
      expect(await client.callTool('work')).toMatchObject(done)
    },
  )
})

describe('client and server with an extension', () => {
  it('request input and send notifications through it, over HTTP and a connection', async () => {
    const subscribers = new Set<SendNotification>()
    const server = createServer({ name: 's', version: '1' })
    server.tool('job', {}, (_args, ctx) => {
      return ctx.extension(ID) ? { resultType: 'job', jobId: 'j' } : text('at once')
    })
    server.extend(
      serverExtension({
        id: ID,
        resultTypes: ['job'],
        methods: {
          'jobs/get': {
            nameParam: 'jobId',
            handle: ({ jobId }) => ({ result: { ...done, jobId } }),
          },
        },
        filters: {
          jobIds: {
            accept: (wanted) => wanted,
            subscribe(_accepted, notify) {
              subscribers.add(notify)
              return () => subscribers.delete(notify)
            },
          },
        },
      }),
    )
    const handle = createHandler(server)
    const fetch = (url: string, init: RequestInit) => handle(new Request(url, init))
    const plain = await connectInMemory(server)
    expect(await plain.callTool('job')).toMatchObject({ content: [{ text: 'at once' }] })
    await plain.close()
    for (const client of [
      await connectInMemory(server, { extensions: [jobs] }),
      await connectTo({ fetch, requests: [], received: () => [] }, { extensions: [jobs] }),
    ]) {
      expect(await client.callTool('job')).toMatchObject({ ...done, jobId: 'j' })
      const feed = await client.listen({ jobIds: ['a', 'b'] })
      expect(feed.filter).toEqual({ jobIds: ['a', 'b'] })
      await until(() => subscribers.size === 1)
      for (const notify of subscribers) {
        for (const [jobId, step] of Object.entries({ a: 1, b: 2 })) {
          notify('notifications/jobs', { jobId, step })
          notify('notifications/jobs', { jobId, step: step + 10 })
        }
      }
      const received: unknown[] = []
      for await (const { params } of feed) {
        received.push([params?.jobId, params?.step])
        if (received.length === 4) break
      }
      // None of them stands for another.
      expect(received).toEqual([
        ['a', 1],
        ['a', 11],
        ['b', 2],
        ['b', 12],
      ])
      await client.close()
    }
  })

  it('answers input that an extension carries with the handlers of the client', async () => {
    const peer = duplexPeer((message) =>
      message.method === 'server/discover'
        ? reply(message, discovered(OFFERED))
        : refuse(message, -32601),
    )
    const client = await connectTo(peer, {
      onElicit: ({ message }) => ({ action: 'accept', content: { message } }),
    })
    const question = {
      method: 'elicitation/create',
      params: { message: 'Why?', requestedSchema: {} },
    }
    expect(await client.answerInputs('jobs/get', { why: question })).toEqual({
      why: { action: 'accept', content: { message: 'Why?' } },
    })
    await expect(client.answerInputs('jobs/get', { why: 1 })).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
    })
  })
})

describe('an extension of a client', () => {
  it('is refused if a result type is taken, by the protocol or another extension', async () => {
    for (const type of ['complete', 'input_required']) {
      const resultTypes = { [type]: (got: JsonObject) => got }
      expect(() => clientExtension({ id: 'com.example/b', resultTypes })).toThrow('exists already')
    }
    const other = clientExtension({ id: 'com.example/b', resultTypes: { job: (got) => got } })
    const server = createServer({ name: 's', version: '1' })
    await expect(connectInMemory(server, { extensions: [jobs, other] })).rejects.toMatchObject({
      code: 'INVALID_USE',
    })
  })

  it('is refused if its `attach` is async [E-EXT-044]', async () => {
    const attach = (): unknown => Promise.reject(new Error('Nothing may reject unhandled'))
    const server = createServer({ name: 's', version: '1' })
    const extensions = [clientExtension({ id: 'com.example/b', attach })]
    await expect(connectInMemory(server, { extensions })).rejects.toMatchObject({
      code: 'INVALID_USE',
    })
  })
})
