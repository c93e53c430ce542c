// Every question of a server ends in the timeline: it is answered, declined or cancelled, or the connection is lost.
import { connect, type ConnectOptions } from 'edgewise/client'
import { createHandler, createServer, statefulSessions, text } from 'edgewise/server'
import { tasks, taskPolling } from 'edgewise/tasks'
import { SdkError, type ElicitResult } from 'edgewise/browser'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { observedFetch } from '../../examples/playground/page/timeline/observe.ts'
import { createRecording } from '../../examples/playground/page/timeline/recording.ts'
import { recordUnanswered } from '../../examples/playground/page/timeline/unanswered.ts'
import { PATIENCE } from '../patience.ts'

const server = createServer({ name: 'questions', version: '1.0.0' })
server.extend(tasks({ pollIntervalMs: 1 }))
const schema = z.object({ room: z.string() })
const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hello' } }]
server.tool('ask', {}, async (_, ctx) => {
  return text((await ctx.elicit({ message: 'Which room?', schema })).action)
})
server.tool('sample', {}, async (_, ctx) => {
  return text((await ctx.sample({ messages, maxTokens: 10 })).model)
})
server.tool('bake', { task: 'optional' }, async (_, ctx) => {
  return text((await ctx.sample({ messages, maxTokens: 10 })).model)
})
const handle = createHandler(server, { sessions: statefulSessions() })
const clients: { close(): Promise<void> }[] = []
afterEach(() => void vi.useRealTimers())
afterAll(() => Promise.all(clients.map((client) => client.close())))

/** Connects a client whose messages are recorded. `lose` breaks its connection. */
async function open(options: ConnectOptions) {
  const recording = createRecording()
  const lost = new AbortController()
  let exchanges = 0
  const sink = {
    add: recording.add,
    nextExchange: () => ++exchanges,
    secrets: new Set<string>(),
    sessionIds: new Set<string>(),
  }
  const fetch = observedFetch(
    sink,
    1,
    async (url, init) => {
      lost.signal.throwIfAborted()
      const response = await handle(new Request(url, init))
      const body = response.body?.pipeThrough(new TransformStream(), { signal: lost.signal })
      return new Response(body, response)
    },
    {},
  )
  const client = await connect('https://example.com/mcp', {
    fetch,
    capabilities: { elicitation: { form: {} }, sampling: {} },
    onElicit: () => ({ action: 'accept', content: { room: '7' } }),
    onSample: () => ({
      role: 'assistant',
      content: { type: 'text', text: 'Hi' },
      model: 'm',
    }),
    ...options,
    extensions: [recordUnanswered(recording.add), taskPolling()],
  })
  clients.push(client)
  const questions = () => recording.entries.filter(({ kind }) => kind === 'question')
  /** How the questions ended; `open` for those that did not. */
  const endings = () =>
    questions().map(({ end, outcome }) => (end === undefined ? 'open' : outcome))
  const lose = () => lost.abort(new TypeError('Failed to fetch'))
  return { client, endings, questions, lose }
}

/** A handler whose question is open until `close` is called. */
function openQuestion() {
  let ask = (): void => {}
  let close = (): void => {}
  const asked = new Promise<void>((resolve) => (ask = resolve))
  const closed = new Promise<void>((resolve) => (close = resolve))
  async function handler(): Promise<ElicitResult> {
    ask()
    await closed
    return { action: 'cancel' }
  }
  return { asked, handler, close }
}

const denied = (): never => {
  throw new SdkError('DENIED', 'No model')
}

describe.each(['2026-07-28', '2025-11-25'] as const)('In the timeline, in %s,', (revision) => {
  it('an answered question ends as answered', async () => {
    const { client, endings } = await open({ revision })
    await client.callTool('ask')
    await client.callTool('sample')
    expect(endings()).toEqual(['answered', 'answered'])
  })

  it.each(['decline', 'cancel'] as const)(
    'a question with the answer %s ends so',
    async (action) => {
      const { client, endings } = await open({ revision, onElicit: () => ({ action }) })
      await client.callTool('ask')
      expect(endings()).toEqual([action === 'cancel' ? 'cancelled' : 'declined'])
    },
  )

  it('a request to a model that the client rejects ends as declined, which is no failure', async () => {
    const { client, endings, questions } = await open({ revision, onSample: denied })
    await client.callTool('sample').catch(() => {})
    expect(endings()).toEqual(['declined'])
    expect(questions()).toMatchObject([{ failed: false }])
  })

  it('a question whose call is cancelled ends as cancelled', async () => {
    const { asked, handler } = openQuestion()
    const { client, endings } = await open({ revision, onElicit: handler })
    const controller = new AbortController()
    const call = client.callTool('ask', {}, { signal: controller.signal })
    await asked
    expect(endings()).toEqual(['open'])
    controller.abort()
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    await vi.waitFor(() => expect(endings()).toEqual(['cancelled']), PATIENCE)
  })

  it('a question ends with the client', async () => {
    const { asked, handler, close } = openQuestion()
    const { client, endings } = await open({ revision, onElicit: handler })
    const call = client.callTool('ask')
    await asked
    await client.close()
    // The page closes the dialog
    close()
    await expect(call).rejects.toMatchObject({ code: 'CLOSED' })
    const ending = revision === '2026-07-28' ? 'connection lost' : 'cancelled'
    await vi.waitFor(() => expect(endings()).toEqual([ending]), PATIENCE)
  })
})

describe('In the timeline,', () => {
  it('a question ends as lost with the stream of its call', async () => {
    const { asked, handler } = openQuestion()
    const revision = '2025-11-25'
    const { client, endings, questions, lose } = await open({ revision, onElicit: handler })
    const call = client.callTool('ask')
    await asked
    vi.useFakeTimers()
    lose()
    const failed = expect(call).rejects.toMatchObject({ code: 'NETWORK' })
    // The client tries to resume the stream
    await vi.advanceTimersByTimeAsync(60_000)
    await failed
    expect(endings()).toEqual(['connection lost'])
    expect(questions()).toMatchObject([{ failed: true }])
  })

  it('an invalid question ends as not answered', async () => {
    const { client, endings } = await open({ capabilities: {} })
    server.tool('invalid', {}, async (_, ctx) => {
      return text((await ctx.elicitUrl({ message: 'Sign', url: 'https://sign.example' })).action)
    })
    await client.callTool('invalid').catch(() => {})
    expect(endings().filter((ending) => ending !== 'not answered')).toEqual([])
  })

  it('a question of a task ends as declined', async () => {
    const { client, endings } = await open({ onSample: denied })
    await client.callTool('bake').catch(() => {})
    await vi.waitFor(() => expect(endings()).toEqual(['declined']), PATIENCE)
  })
})
