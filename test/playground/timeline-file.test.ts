// The file of an exported session: its format, its limits, and the secrets that it must not contain.
import { describe, expect, it } from 'vitest'
import { observedFetch } from '../../examples/playground/page/timeline/observe.ts'
import type { SessionRecord } from '../../examples/playground/page/timeline/record.ts'
import { createRecording } from '../../examples/playground/page/timeline/recording.ts'
import {
  MAX_FILE_BYTES,
  readSession,
  writeSession,
} from '../../examples/playground/page/timeline/session-file.ts'

const settings = { url: 'https://example.com/mcp', revision: 'auto' }

/** What the page records when it sends requests and receives responses. */
async function record(exchanges: readonly [url: string, RequestInit, Response][]) {
  const recording = createRecording()
  const secrets = new Set<string>()
  const sessionIds = new Set<string>()
  let http = 0
  const sink = { add: recording.add, nextExchange: () => ++http, secrets, sessionIds }
  for (const [url, init, response] of exchanges) {
    const observed = observedFetch(sink, 1, () => Promise.resolve(response), {})
    await (await observed(url, init)).text()
  }
  const text = (): Promise<string> =>
    writeSession(recording.records, settings, { secrets, sessionIds })
  return { recording, text }
}

const file = (text: string, name = 'session.json'): File => new File([text], name)
const rejection = (text: string): Promise<unknown> =>
  readSession(file(text)).then(
    () => 'accepted',
    (error: unknown) => (error as Error).message,
  )
const rpc = (value: object): string => JSON.stringify({ jsonrpc: '2.0', ...value })

const noSecrets = { secrets: new Set<string>(), sessionIds: new Set<string>() }
const withoutTime = (json: string): string => json.replace(/"exportedAt": ".*"/, '')

describe('An exported session', () => {
  it('contains no secret that the page sent or received', async () => {
    const { text } = await record([
      [
        'https://user:hunter2-pass@example.com/s/ab12cd34ef56/mcp?api_key=query-secret',
        {
          method: 'POST',
          headers: {
            authorization: 'Bearer token-secret',
            cookie: 'a=cookie-secret',
            'x-tenant': 'header-secret',
            'mcp-session-id': 'session-secret',
          },
          body: rpc({
            id: 1,
            method: 'tools/call',
            params: { name: 'echo', arguments: { password: 'argument-secret', text: 'shown' } },
          }),
        },
        new Response(
          // The server repeats what it received
          rpc({
            id: 1,
            result: {
              content:
                'token-secret cookie-secret header-secret session-secret query-secret hunter2-pass',
              link: 'https://example.com/file?sig=link-secret&page=2',
            },
          }),
          { headers: { 'mcp-session-id': 'session-secret', 'set-cookie': 'b=cookie-secret' } },
        ),
      ],
      [
        'https://as.example/token',
        {
          method: 'POST',
          body: 'grant_type=authorization_code&code=code-secret&code_verifier=v-secret',
        },
        Response.json({
          access_token: 'a-secret',
          refresh_token: 'r-secret',
          token_type: 'Bearer',
        }),
      ],
    ])
    const exported = await text()
    expect(exported.match(/[\w-]*secret|hunter2|ab12cd34ef56/g)).toBeNull()
    expect(exported).toContain('"authorization":"Bearer [redacted]"')
    expect(exported).toContain('"mcp-session-id":"session-1"')
    expect(exported).toContain('"text":"shown"')
    expect(exported).toContain('page=2')
    expect(exported).toContain('"token_type":"Bearer"')
    expect(exported).toContain('grant_type=authorization_code')
  })

  it('keeps what only looks like a secret', async () => {
    const params = { name: 'run', arguments: { code: 'print(1)' }, _meta: { progressToken: 'p-1' } }
    const body = rpc({ id: 1, method: 'tools/call', params })
    const headers = { 'mcp-protocol-version': '2025-06-18', 'mcp-method': 'tools/call' }
    const { text } = await record([
      [
        'https://example.com/api/v2/streamable-http/mcp',
        { method: 'POST', headers, body },
        new Response(),
      ],
    ])
    const exported = await text()
    expect(exported).not.toContain('redacted')
    expect(exported).toContain('"progressToken":"p-1"')
    expect(exported).toContain('"mcp-protocol-version":"2025-06-18"')
  })

  it('gives the same entries when it is imported, and the same file when it is exported again', async () => {
    const stream = 'data: {"jsonrpc":"2.0","id":1,"result":{"isError":true}}\n\n'
    const { recording, text } = await record([
      [
        'https://example.com/mcp',
        { method: 'POST', body: rpc({ id: 1, method: 'tools/call', params: { name: 'fail' } }) },
        new Response(stream, { headers: { 'content-type': 'text/event-stream' } }),
      ],
    ])
    recording.add({ type: 'mark', at: recording.records[0]!.at + 1000, text: 'Disconnected' })
    const exported = await text()
    const session = await readSession(file(exported))
    expect(session.settings).toEqual(settings)
    const imported = createRecording()
    for (const each of session.records) imported.add(each)
    const look = (all: typeof recording) =>
      all.entries.map(({ kind, title, about, outcome }) => [kind, title, about, outcome])
    expect(look(imported)).toEqual(look(recording))
    expect(look(imported)[0]).toEqual(['request', 'tools/call', 'fail', 'tool error'])
    const again = await writeSession(session.records, session.settings, noSecrets)
    expect(withoutTime(again)).toBe(withoutTime(exported))
  })

  it('shows what was in progress at the export as ended', () => {
    const recording = createRecording()
    const json = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
    const http = { http: 1, client: 1, method: 'POST', url: 'https://example.com/mcp' }
    recording.add({ type: 'request', at: 10, ...http, headers: {}, json })
    recording.add({ type: 'mark', at: 20, text: 'Disconnected' })
    recording.finish()
    expect(recording.entries).toMatchObject([
      { title: 'tools/call', end: 20, outcome: 'in progress at the export', failed: false },
      { title: 'Disconnected', end: 20 },
    ])
  })

  it('gives the same file again, whatever part of a millisecond it starts in', async () => {
    for (const start of [1_000.04, 1_000.52, 1_000.97]) {
      const records: SessionRecord[] = [
        { type: 'mark', at: start, text: 'Connected' },
        { type: 'mark', at: start + 10.26, text: 'Disconnected' },
      ]
      const exported = await writeSession(records, settings, noSecrets)
      const session = await readSession(file(exported))
      const again = await writeSession(session.records, session.settings, noSecrets)
      expect(withoutTime(again)).toBe(withoutTime(exported))
    }
  })

  it('is rejected with the reason if it is another file', async () => {
    expect(await rejection('hello')).toBe('Cannot open "session.json": it is not JSON')
    expect(await rejection('{"a":1}')).toMatch(/it is no session\. Choose a file/)
    expect(await rejection('{"log":{"entries":[]}}')).toMatch(/it is a HAR file/)
  })

  const head = { format: 'edgewise-session', version: 1, startedAt: '2026-07-28T12:00:00.000Z' }
  it.each([
    [{ ...head, version: 2 }, /it has version 2 of the format, but this page reads 1$/],
    [{ ...head, startedAt: 'soon', records: [] }, /its "startedAt" is not a date$/],
    [{ ...head, records: {} }, /its "records" is not an array$/],
    [
      { ...head, records: [{ type: 'song', at: 0 }] },
      /record 1 is invalid: its type "song" is unknown$/,
    ],
    [
      { ...head, records: [{ type: 'mark', at: 0 }] },
      /record 1 is invalid: its "text" is not a string$/,
    ],
    [
      { ...head, records: [{ type: 'mark', text: '' }] },
      /record 1 is invalid: its "at" is not a number$/,
    ],
    [
      { ...head, records: [{ type: 'notice', at: 0, text: '', level: 'loud' }] },
      /record 1 is invalid: its "level" is not a level$/,
    ],
  ])('is rejected with the reason if it is damaged: %j', async (value, reason) => {
    expect(await rejection(JSON.stringify(value))).toMatch(reason)
  })

  it('is rejected above the maximum size, before it is read', async () => {
    const large = file('')
    Object.defineProperty(large, 'size', { value: MAX_FILE_BYTES + 1 })
    await expect(readSession(large)).rejects.toThrow('it has 21 MB, and the limit is 20 MB')
  })
})

describe('A recording', () => {
  const notice = (at: number, text = ''): SessionRecord => ({
    type: 'notice',
    at,
    level: 'info',
    text,
  })

  it('removes its oldest records above a limit, except for a request in progress', () => {
    const recording = createRecording()
    let removals = 0
    recording.listen({ onChange() {}, onRemove: () => removals++ })
    const request = { type: 'request', at: 0, http: 1, client: 1, method: 'POST' } as const
    const json = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
    recording.add({ ...request, url: 'https://example.com/mcp', headers: {}, json })
    for (let at = 1; at <= 50_001; at++) recording.add(notice(at))
    expect(removals).toBe(1)
    expect(recording.records.length).toBeLessThan(50_000)
    expect(recording.records[0]).toMatchObject({ type: 'request' })
    expect(recording.entries.map(({ title }) => title)[0]).toBe('tools/call')
  })

  it('keeps only requests in progress when it is cleared', () => {
    const recording = createRecording()
    recording.add(notice(1, 'old'))
    const request = { type: 'request', at: 2, http: 1, client: 1, method: 'POST' } as const
    const json = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
    recording.add({ ...request, url: 'https://example.com/mcp', headers: {}, json })
    recording.clear()
    expect(recording.entries.map(({ title }) => title)).toEqual(['tools/call'])
    recording.add({ type: 'message', at: 3, http: 1, json: { jsonrpc: '2.0', id: 1, result: {} } })
    expect(recording.entries.map(({ outcome }) => outcome)).toEqual(['result'])
  })

  it('begins a new group for a task that is polled after it was cleared', () => {
    const recording = createRecording()
    const http = { client: 1, method: 'POST', url: 'https://example.com/mcp', headers: {} } as const
    const params = { taskId: 'a' }
    const poll = (id: number): void => {
      const json = { jsonrpc: '2.0', id, method: 'tasks/get', params }
      recording.add({ type: 'request', at: id, http: id, ...http, json })
      const result = { taskId: 'a', status: 'working' }
      recording.add({ type: 'message', at: id, http: id, json: { jsonrpc: '2.0', id, result } })
    }
    poll(1)
    recording.clear()
    poll(2)
    const [group, ...others] = recording.entries
    expect(group?.members).toEqual(others)
    expect(others).toHaveLength(1)
  })

  it('does not report the end of an open stream that was cleared', () => {
    const recording = createRecording()
    const request = { type: 'request', at: 1, http: 1, client: 1, method: 'GET' } as const
    recording.add({ ...request, url: 'https://example.com/mcp', headers: {} })
    const headers = { 'content-type': 'text/event-stream' }
    recording.add({ type: 'response', at: 2, http: 1, status: 200, statusText: 'OK', headers })
    recording.clear()
    expect(recording.entries).toEqual([])
    const reported: string[] = []
    recording.listen({
      onChange: (changed) => reported.push(...[...changed].map(({ title }) => title)),
      onRemove() {},
    })
    recording.add({ type: 'end', at: 3, http: 1, aborted: true })
    recording.add(notice(4, 'new'))
    expect(reported).toEqual(['new'])
    expect(recording.entries.map(({ title }) => title)).toEqual(['new'])
  })
})

describe('A record of an imported session', () => {
  it.each([1e16, -1e300])('at %d ms, which is no time, is rejected', async (at) => {
    const head = { format: 'edgewise-session', version: 1, startedAt: '2026-07-28T12:00:00.000Z' }
    const records = [{ type: 'mark', at, text: 'Connected' }]
    expect(await rejection(JSON.stringify({ ...head, records }))).toBe(
      'Cannot open "session.json": record 1 has no valid time',
    )
  })
})
