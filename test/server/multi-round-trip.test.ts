import { afterEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import type { InputRequest, JsonObject, JsonRpcResultResponse } from '../../src/index.ts'
import {
  createServer,
  text,
  UrlElicitationRequired,
  type Handler,
} from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { gate } from '../tasks/fixture.ts'
import { lastMessage, postModern } from '../transport/streamable-http/post.ts'
import { settled } from '../settled.ts'

const ALL = { elicitation: {}, sampling: {}, roots: {} }
const yes = { action: 'accept', content: { yes: true } }
const SHARED = 'a shared secret, long enough'
const form = z.object({ yes: z.boolean() })

interface Round {
  inputRequests: { [key: string]: InputRequest }
  requestState: string
}

function makeServer() {
  const runs: string[] = []
  const server = createServer({ name: 's', version: '1' })
  server.tool('two', { input: z.object({ n: z.number().default(0) }) }, async (_args, ctx) => {
    runs.push('run')
    const id = await ctx.step('id', () => runs.push('step'))
    const first = await ctx.elicit({ message: `First ${id}`, schema: form })
    const second = await ctx.elicit({ message: 'Second', schema: form })
    return text(`${first.action} ${second.action}`)
  })
  server.tool('parallel', {}, async (_args, ctx) => {
    const [answer, message, roots] = await Promise.all([
      ctx.elicit({ message: 'Sure?', schema: form, key: 'sure' }),
      ctx.sample({ messages: [], maxTokens: 1, key: 'model' }),
      ctx.roots(),
    ])
    return text(`${answer.action} ${message.model} ${roots.length}`)
  })
  server.tool('swallow', {}, async (_args, ctx) => {
    try {
      await ctx.elicit({ message: 'Sure?', schema: form })
      return text('answered')
    } catch {
      return text('swallowed')
    }
  })
  server.tool('diverge', {}, async (_args, ctx) => {
    await ctx.elicit({ message: `At ${runs.push('diverge')}`, schema: form })
    return text('done')
  })
  server.tool('unordered', {}, async (_args, ctx) => {
    // In the first run the second branch asks first, when steps are played back the first one does
    const { opened, open } = gate()
    const branches = ['slow', 'fast'].map(async (name) => {
      await ctx.step(name, async () => {
        if (name === 'fast') return
        await opened
        await settled()
      })
      const asking = ctx.elicit({ message: name, schema: z.object({ by: z.string() }) })
      open()
      return `${name} by ${(await asking).content?.by}`
    })
    const said = await Promise.all(branches)
    await ctx.elicit({ message: said.join(), schema: form })
    return text(said.join())
  })
  server.tool('unheeded', {}, async (_args, ctx) => {
    const first = ctx.elicit({ message: 'First', schema: form })
    const others = [
      ctx.sample({ messages: [], maxTokens: 1 }),
      ctx.roots(),
      ctx.elicitUrl({ message: 'Visit', url: 'https://example.com/' }),
    ]
    const { action } = await first
    return text(`${action} ${(await Promise.all(others)).length}`)
  })
  server.tool('alike', {}, async (_args, ctx) => {
    const asked = [1, 2].map(() => ctx.elicit({ message: 'Again?', schema: form }))
    const answers = await Promise.all(asked)
    return text(answers.map(({ action }) => action).join())
  })
  server.tool('large', {}, async (_args, ctx) => {
    await ctx.step('blob', () => 'x'.repeat(100_000))
    await ctx.elicit({ message: 'Sure?', schema: form })
    return text('done')
  })
  server.tool('own', {}, (_args, ctx) => {
    if (ctx.requestState === 'mine') return text(JSON.stringify(ctx.inputResponses))
    const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } }
    return {
      resultType: 'input_required',
      inputRequests: { who: { method: 'elicitation/create', params } },
      requestState: 'mine',
    }
  })
  server.tool('nothing', {}, () => ({ resultType: 'input_required' }))
  server.prompt('ask', {}, async (_args, ctx) => {
    const answer = await ctx.elicit({ message: 'Sure?', schema: form })
    return answer.action
  })
  server.resource('ask://me', { name: 'ask' }, async (_request, ctx) => {
    const answer = await ctx.elicit({ message: 'Sure?', schema: form })
    return answer.action
  })
  return { server, runs }
}

async function call(handle: Handler, params: JsonObject, capabilities = ALL) {
  return lastMessage(await postModern(handle, 'tools/call', params, capabilities))
}

function round({ result }: JsonRpcResultResponse): Round {
  expect(result.resultType).toBe('input_required')
  return result as JsonObject & Round
}

afterEach(() => void vi.useRealTimers())

describe('asking over rounds', () => {
  it('replays earlier answers, and runs steps once [M-MRTR-001] [M-MRTR-016] [M-MRTR-039] [M-MRTR-010]', async () => {
    const { server, runs } = makeServer()
    const handle = sessionHandler(server)
    const first = round(await call(handle, { name: 'two' }))
    expect(first.inputRequests).toEqual({
      'elicitation/create#1': {
        method: 'elicitation/create',
        params: expect.objectContaining({ mode: 'form', message: 'First 2' }) as unknown,
      },
    })
    const second = round(
      await call(handle, {
        name: 'two',
        requestState: first.requestState,
        inputResponses: { 'elicitation/create#1': yes },
      }),
    )
    expect(Object.keys(second.inputRequests)).toEqual(['elicitation/create#2'])
    const { result } = await call(handle, {
      name: 'two',
      requestState: second.requestState,
      inputResponses: { 'elicitation/create#2': { action: 'decline' } },
    })
    expect(result.content).toEqual([{ type: 'text', text: 'accept decline' }])
    expect(runs.filter((what) => what === 'step')).toHaveLength(1)
  })

  it('continues in another instance with the same secret, after any restart [M-MRTR-026] [M-MRTR-029] [M-BASE-046]', async () => {
    const first = round(
      await call(sessionHandler(makeServer().server, { secrets: SHARED }), { name: 'two' }),
    )
    const params = {
      name: 'two',
      requestState: first.requestState,
      inputResponses: { 'elicitation/create#1': yes },
    }
    const rotated = sessionHandler(makeServer().server, {
      secrets: ['a newer secret, long enough', SHARED],
    })
    expect(round(await call(rotated, params)).inputRequests).toHaveProperty('elicitation/create#2')
    const stranger = sessionHandler(makeServer().server, { secrets: 'another secret, long enough' })
    expect((await call(stranger, params)).error.code).toBe(-32602)
  })

  it('puts questions that are asked together into one round; partial answers leave the rest [M-MRTR-015] [M-MRTR-033] [M-MRTR-032]', async () => {
    const handle = sessionHandler(makeServer().server)
    const first = round(await call(handle, { name: 'parallel' }))
    expect(Object.keys(first.inputRequests)).toEqual(['sure', 'model', 'roots/list#1'])
    const second = round(
      await call(handle, {
        name: 'parallel',
        requestState: first.requestState,
        inputResponses: {
          sure: yes,
          'roots/list#1': { roots: [] },
          junk: { action: 'accept' },
          __proto__: { x: 1 },
        },
      }),
    )
    expect(Object.keys(second.inputRequests)).toEqual(['model'])
    const model = { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } }
    const { result } = await call(handle, {
      name: 'parallel',
      requestState: second.requestState,
      inputResponses: { model },
    })
    expect(result.content).toEqual([{ type: 'text', text: 'accept m 0' }])
  })

  it.each([
    ['of the wrong kind', 5],
    ['with an unknown action', { action: 'maybe' }],
    ['accepted without content', { action: 'accept' }],
    ['that the schema refuses', { action: 'accept', content: { yes: 'perhaps' } }],
    ['that is absent', undefined],
  ])('asks again after an answer %s [M-MRTR-030] [M-MRTR-035]', async (_how, answer) => {
    const handle = sessionHandler(makeServer().server)
    const first = round(await call(handle, { name: 'two' }))
    const again = await call(handle, {
      name: 'two',
      requestState: first.requestState,
      inputResponses: { 'elicitation/create#1': answer },
    })
    expect(Object.keys(round(again).inputRequests)).toEqual(['elicitation/create#1'])
  })

  it('reports the error whenever it asks again [M-MRTR-035]', async () => {
    const handle = sessionHandler(makeServer().server)
    let asked = round(await call(handle, { name: 'two' }))
    const messageOf = (): string =>
      String(asked.inputRequests['elicitation/create#1']?.params?.message)
    const first = messageOf()
    for (const yes of ['perhaps', 5]) {
      const content = { action: 'accept', content: { yes } }
      asked = round(
        await call(handle, {
          name: 'two',
          requestState: asked.requestState,
          inputResponses: { 'elicitation/create#1': content },
        }),
      )
      expect(messageOf()).toMatch(/: yes: .*expected boolean, received (string|number)$/)
      expect(messageOf().startsWith(`${first}: `)).toBe(true)
      expect(messageOf().match(/expected/g)).toHaveLength(1)
    }
    const { result } = await call(handle, {
      name: 'two',
      requestState: asked.requestState,
      inputResponses: { 'elicitation/create#1': yes },
    })
    expect(result.resultType).toBe('input_required') // the second question
  })

  it('answers that come before any question are ignored [M-MRTR-034]', async () => {
    const handle = sessionHandler(makeServer().server)
    const first = await call(handle, {
      name: 'two',
      inputResponses: { 'elicitation/create#1': yes },
    })
    expect(Object.keys(round(first).inputRequests)).toEqual(['elicitation/create#1'])
  })

  it.each([[[]], ['text'], [5], [null]])(
    'inputResponses that are %j are answered with -32602 [M-MRTR-031]',
    async (inputResponses) => {
      const handle = sessionHandler(makeServer().server)
      expect((await call(handle, { name: 'two', inputResponses })).error.code).toBe(-32602)
    },
  )

  it('works for prompts and resources, and for nothing else [M-MRTR-002] [M-MRTR-037]', async () => {
    const handle = sessionHandler(makeServer().server)
    for (const [method, params] of [
      ['prompts/get', { name: 'ask' }],
      ['resources/read', { uri: 'ask://me' }],
    ] as const) {
      const first = round(await lastMessage(await postModern(handle, method, params, ALL)))
      expect(first).not.toHaveProperty('ttlMs')
      const retry = {
        ...params,
        requestState: first.requestState,
        inputResponses: { 'elicitation/create#1': yes },
      }
      const { result } = await lastMessage(await postModern(handle, method, retry, ALL))
      expect(JSON.stringify(result)).toContain('accept')
    }
  })

  it('a handler that swallows the suspension gets no result out of it', async () => {
    const handle = sessionHandler(makeServer().server)
    const first = round(await call(handle, { name: 'swallow' }))
    const { result } = await call(handle, {
      name: 'swallow',
      requestState: first.requestState,
      inputResponses: { 'elicitation/create#1': yes },
    })
    expect(result.content).toEqual([{ type: 'text', text: 'answered' }])
  })

  it('a handler that asks a different question in its next run gets an error that names the question', async () => {
    const handle = sessionHandler(makeServer().server)
    const first = round(await call(handle, { name: 'diverge' }))
    const { error } = await call(handle, {
      name: 'diverge',
      requestState: first.requestState,
      inputResponses: { 'elicitation/create#1': yes },
    })
    expect(error.code).toBe(-32603)
    expect(error.message).toContain('"elicitation/create#1"')
  })

  it('questions that change, and states that grow too large, are reported to the author', async () => {
    const errors: unknown[] = []
    const server = createServer({ name: 's', version: '1' }, { onError: (e) => errors.push(e) })
    let runs = 0
    server.tool('diverge', {}, async (_args, ctx) => {
      await ctx.elicit({ message: `Run ${++runs}`, schema: form })
      return text('done')
    })
    server.tool('large', {}, async (_args, ctx) => {
      await ctx.step('blob', () => 'x'.repeat(100_000))
      await ctx.elicit({ message: 'Sure?', schema: form })
      return text('done')
    })
    const handle = sessionHandler(server)
    const { requestState } = round(await call(handle, { name: 'diverge' }))
    await call(handle, { name: 'diverge', requestState, inputResponses: {} })
    await call(handle, { name: 'large' })
    expect(errors.map(String)).toEqual([
      expect.stringContaining('"elicitation/create#1"'),
      expect.stringContaining('more than 65536'),
    ])
    const roomy = sessionHandler(server, { maxStateBytes: 200_000 })
    const large = round(await call(roomy, { name: 'large' }))
    const inputResponses = {
      'elicitation/create#1': { action: 'accept', content: { yes: true } },
    }
    const again = { name: 'large', requestState: large.requestState, inputResponses }
    const done = await call(roomy, again)
    expect(done.result).toMatchObject({ content: [{ text: 'done' }] })
  })

  it('a question that changes is an error even while others stay the same', async () => {
    const server = createServer({ name: 's', version: '1' })
    let runs = 0
    server.tool('half', {}, async (_args, ctx) => {
      runs++
      const same = ctx.elicit({ message: 'Same', schema: form })
      const other = ctx.elicit({ message: `Run ${runs}`, schema: form })
      return text(JSON.stringify(await Promise.all([same, other])))
    })
    const half = sessionHandler(server)
    const first = round(await call(half, { name: 'half' }))
    const { error } = await call(half, {
      name: 'half',
      requestState: first.requestState,
      inputResponses: { 'elicitation/create#1': yes, 'elicitation/create#2': yes },
    })
    expect(error.message).toContain('"elicitation/create#2"')
  })

  it('questions asked at the same time may come in another order when the handler runs again', async () => {
    const handle = sessionHandler(makeServer().server)
    const first = round(await call(handle, { name: 'unordered' }))
    const by = Object.entries(first.inputRequests).map(([key, { params }]) => {
      return [key, { action: 'accept', content: { by: `who got ${String(params?.message)}` } }]
    })
    expect(by).toHaveLength(2)
    const inputResponses = Object.fromEntries(by) as JsonObject
    const { requestState } = first
    const second = round(await call(handle, { name: 'unordered', requestState, inputResponses }))
    const said = 'slow by who got slow,fast by who got fast'
    expect(Object.entries(second.inputRequests)).toEqual([
      [
        'elicitation/create#3',
        expect.objectContaining({ params: expect.objectContaining({ message: said }) as unknown }),
      ],
    ])
    const { result } = await call(handle, {
      name: 'unordered',
      requestState: second.requestState,
      inputResponses: { 'elicitation/create#3': yes },
    })
    expect(result.content).toEqual([{ type: 'text', text: said }])
  })

  it('questions that are alike have their own answers', async () => {
    const handle = sessionHandler(makeServer().server)
    const { requestState } = round(await call(handle, { name: 'alike' }))
    const { result } = await call(handle, {
      name: 'alike',
      requestState,
      inputResponses: {
        'elicitation/create#1': yes,
        'elicitation/create#2': { action: 'decline' },
      },
    })
    expect(result.content).toEqual([{ type: 'text', text: 'accept,decline' }])
  })

  it('questions that are not awaited yet when another ends the run cause no unhandled rejections', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    const handle = sessionHandler(makeServer().server)
    const capabilities = { ...ALL, elicitation: { form: {}, url: {} } }
    const first = round(await call(handle, { name: 'unheeded' }, capabilities))
    expect(Object.keys(first.inputRequests)).toHaveLength(4)
    await settled()
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it('a handler may make the round itself; its state is sealed all the same [M-MRTR-006] [M-MRTR-019]', async () => {
    const handle = sessionHandler(makeServer().server)
    const first = round(await call(handle, { name: 'own' }))
    expect(first.requestState).not.toContain('mine')
    const { result } = await call(handle, {
      name: 'own',
      requestState: first.requestState,
      inputResponses: { who: yes },
    })
    expect(result.content).toEqual([{ type: 'text', text: JSON.stringify({ who: yes }) }])
    expect((await call(handle, { name: 'own', requestState: 'mine' })).error.code).toBe(-32602)
    expect((await call(handle, { name: 'nothing' })).error.code).toBe(-32603)
  })

  it('requests only input that the client declares, and names the missing capability [M-MRTR-011] [M-MRTR-014] [M-META-013] [M-META-015] [M-META-016] [M-META-017]', async () => {
    const handle = sessionHandler(makeServer().server)
    await call(handle, { name: 'own' })
    for (const name of ['two', 'own']) {
      const response = await postModern(handle, 'tools/call', { name }, { roots: {} })
      expect(response.status).toBe(400)
      expect((await lastMessage(response)).error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { elicitation: { form: {} } } },
      })
    }
  })
})

describe('the state that travels through the client', () => {
  const { server } = makeServer()
  const handle = sessionHandler(server, { stateTtlMs: 60_000 })
  const retry = (requestState: unknown, more: JsonObject = {}): JsonObject => ({
    name: 'two',
    requestState,
    inputResponses: { 'elicitation/create#1': yes },
    ...more,
  })

  it('is refused when any part of it was changed [M-MRTR-018] [M-MRTR-019] [M-MRTR-020]', async () => {
    const { requestState } = round(await call(handle, { name: 'two' }))
    const at = [0, 5, Math.floor(requestState.length / 2), requestState.length - 2]
    const changed = at.map((n) => {
      const other = requestState[n] === 'A' ? 'B' : 'A'
      return requestState.slice(0, n) + other + requestState.slice(n + 1)
    })
    for (const state of [...changed, '', 'x', requestState.slice(0, -4), 'A'.repeat(70_000)]) {
      expect((await call(handle, retry(state))).error.code).toBe(-32602)
    }
    for (const state of [5, {}, [], null]) {
      expect((await call(handle, retry(state))).error.code).toBe(-32602)
    }
  })

  it('is refused for another tool, and for other arguments [M-MRTR-024]', async () => {
    const { requestState } = round(await call(handle, { name: 'two', arguments: { n: 1 } }))
    const args = { arguments: { n: 1 } }
    expect((await call(handle, retry(requestState))).error.code).toBe(-32602)
    expect((await call(handle, retry(requestState, { name: 'swallow', ...args }))).error.code).toBe(
      -32602,
    )
    expect((await call(handle, retry(requestState, args))).error).toBeUndefined()
  })

  it('is refused when it is too old [M-MRTR-023]', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { requestState } = round(await call(handle, { name: 'two' }))
    vi.setSystemTime(Date.now() + 61_000)
    expect((await call(handle, retry(requestState))).error.code).toBe(-32602)
  })

  it('is refused for another principal [M-MRTR-022]', async () => {
    const as = async (principal: string, params: JsonObject) => {
      const handler = Object.assign((request: Request) => handle(request, { principal }), {
        close: () => Promise.resolve(),
      })
      return call(handler, params)
    }
    const { requestState } = round(await as('ada', { name: 'two' }))
    expect((await as('eve', retry(requestState))).error.code).toBe(-32602)
    expect((await call(handle, retry(requestState))).error.code).toBe(-32602)
    expect((await as('ada', retry(requestState))).error).toBeUndefined()
  })

  it('reveals nothing of its contents [M-MRTR-027]', async () => {
    const { requestState } = round(await call(handle, { name: 'two' }))
    const bytes = atob(requestState.replaceAll('-', '+').replaceAll('_', '/'))
    expect(bytes).not.toContain('answers')
  })

  it('has a limit, 64 KiB by default, and says how large it was', async () => {
    const { error } = await call(handle, { name: 'large' })
    expect(error.code).toBe(-32603)
    expect(error.message).toMatch(/take \d+ bytes, more than 65536/)
  })
})

describe('pages that the user must visit first', () => {
  const required = new UrlElicitationRequired([
    { mode: 'url', elicitationId: 'page', message: 'Sign', url: 'https://sign.test/' },
  ])
  const capabilities = { elicitation: { form: {}, url: {} } }

  it('are requested by no method that cannot ask [M-MRTR-002]', async () => {
    const { server } = makeServer()
    server.use('tools/list', () => Promise.reject(required))
    const response = await postModern(sessionHandler(server), 'tools/list', {}, capabilities)
    const { error } = await lastMessage(response)
    expect(error).toEqual({ code: -32603, message: '"tools/list" cannot ask for input' })
  })

  it('do not replace an earlier question of the handler', async () => {
    const { server } = makeServer()
    server.tool('both', {}, async (_args, ctx) => {
      await ctx.elicit({ message: 'Sure?', schema: form }).catch(() => {
        throw required
      })
      return text('done')
    })
    const params = { name: 'both' }
    const handle = sessionHandler(server)
    const first = await lastMessage(await postModern(handle, 'tools/call', params, capabilities))
    const { inputRequests, requestState } = first.result as unknown as Round
    expect(Object.keys(inputRequests)).toEqual(['elicitation/create#1'])
    const retried = { ...params, requestState, inputResponses: { 'elicitation/create#1': yes } }
    const { result } = await lastMessage(
      await postModern(handle, 'tools/call', retried, capabilities),
    )
    expect(result.content).toEqual([{ type: 'text', text: 'done' }])
  })
})
