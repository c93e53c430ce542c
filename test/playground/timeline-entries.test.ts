// Which entries of the timeline follow from the records of a session.
import { describe, expect, it } from 'vitest'
import { entryBuilder } from '../../examples/playground/page/timeline/entries.ts'
import { entryJson } from '../../examples/playground/page/timeline/entry-json.ts'
import { entryCurl } from '../../examples/playground/page/timeline/entry-curl.ts'
import type { Entry } from '../../examples/playground/page/timeline/entry.ts'
import type { SessionRecord } from '../../examples/playground/page/timeline/record.ts'

const URL = 'https://example.com/mcp'

/** Records a session step by step: each step takes place 10 ms after the one before. */
function session() {
  const builder = entryBuilder()
  const entries: Entry[] = []
  let at = 0
  let lastHttp = 0
  function add(record: SessionRecord): void {
    for (const entry of builder.add(record)) if (!entries.includes(entry)) entries.push(entry)
  }
  const next = (): number => (at += 10)
  /** Sends a request, and returns the number of the HTTP exchange. */
  function send(json?: unknown, method = 'POST', client = 1): number {
    const http = ++lastHttp
    const body = json === undefined ? {} : { json }
    add({ type: 'request', at: next(), http, client, method, url: URL, headers: {}, ...body })
    return http
  }
  function head(http: number, status = 200, type = 'application/json'): void {
    const headers = { 'content-type': type }
    add({ type: 'response', at: next(), http, status, statusText: '', headers })
  }
  const message = (http: number, json: unknown): void =>
    add({ type: 'message', at: next(), http, json })
  const end = (http: number, more: { error?: string; aborted?: boolean } = {}): void =>
    add({ type: 'end', at: next(), http, ...more })
  /** Sends a request and receives its whole response. */
  function exchange(json: unknown, status: number, response?: unknown): void {
    const http = send(json)
    head(http, status)
    if (response !== undefined) message(http, response)
    end(http)
  }
  const addNow = (record: SessionRecord): void => add({ ...record, at: next() })
  return { entries, add: addNow, send, head, message, end, exchange }
}

const request = (id: number, method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const response = (id: number | null, result: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  result,
})
const notification = (method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  method,
  params,
})
const look = ({ kind, title, about, outcome, failed, start, end }: Entry): object => ({
  kind,
  title,
  ...(about !== undefined && { about }),
  ...(outcome !== undefined && { outcome }),
  ...(failed && { failed }),
  took: end === undefined ? 'in progress' : end - start,
})

describe('The timeline', () => {
  it('makes one entry of a request, its HTTP exchange, its progress and its response', () => {
    const { entries, send, head, message, end } = session()
    const _meta = { progressToken: 7 }
    const http = send(request(7, 'tools/call', { name: 'count', _meta }))
    head(http, 200, 'text/event-stream')
    const progress = { progressToken: 7, progress: 1, total: 3, message: 'Step 1' }
    message(http, notification('notifications/progress', progress))
    message(http, response(7))
    end(http)
    expect(entries.map(look)).toEqual([
      { kind: 'request', title: 'tools/call', about: 'count', outcome: 'result', took: 30 },
    ])
    expect(entries[0]?.parts.map(({ title, note }) => [title, note])).toEqual([
      ['Request', undefined],
      ['POST /mcp', 'HTTP 200, stream'],
      ['Progress', '1 of 3: Step 1'],
      ['Response', 'result'],
    ])
  })

  it('pairs a response that arrives on another stream', () => {
    const { entries, send, head, message, end } = session()
    const stream = send(undefined, 'GET')
    head(stream, 200, 'text/event-stream')
    const http = send(request(1, 'tools/list'))
    head(http, 202)
    end(http)
    expect(entries[1]?.end).toBeUndefined()
    message(stream, response(1))
    expect(entries.map(look)).toEqual([
      { kind: 'http', title: 'GET /mcp', outcome: 'HTTP 200, open stream', took: 'in progress' },
      { kind: 'request', title: 'tools/list', outcome: 'result', took: 30 },
    ])
  })

  it('keeps the requests of two clients with the same id apart', () => {
    const { entries, send, message } = session()
    const one = send(request(1, 'tools/list'), 'POST', 1)
    const other = send(request(1, 'prompts/list'), 'POST', 2)
    message(other, response(1))
    message(one, { jsonrpc: '2.0', id: 1, error: { code: -32_603, message: 'No' } })
    expect(entries.map(({ outcome }) => outcome)).toEqual(['error -32603 No', 'result'])
    expect(entries.map(({ failed, level }) => [failed, level])).toEqual([
      [true, 'error'],
      [false, 'info'],
    ])
  })

  it('shows a request of a check that timed out as one without a response', () => {
    const { entries, add } = session()
    const sent = { http: 1, client: 5, check: 1, method: 'POST', url: URL, headers: {} }
    add({ type: 'request', at: 0, ...sent, json: request(1, 'tools/call', { name: 'nope' }) })
    add({ type: 'end', at: 0, http: 1, aborted: true, error: 'It got no response within 30 s' })
    expect(entries.map(look)).toMatchObject([
      { kind: 'check' },
      { title: 'tools/call', outcome: 'no response', failed: true },
    ])
  })

  it('folds the requests of a check, and what belongs to them, into one entry', () => {
    const { entries, add, head, message, end } = session()
    add({ type: 'mark', at: 0, text: 'Check', check: 1 })
    const http = 7
    const sent = { http, client: 5, check: 1, method: 'POST', url: URL, headers: {} }
    add({ type: 'request', at: 0, ...sent, json: request(1, 'tools/list') })
    head(http, 200, 'text/event-stream')
    message(http, notification('notifications/message', { level: 'info', data: 'Listed' }))
    message(http, response(1))
    end(http)
    add({ type: 'mark', at: 0, text: 'The check ended', check: 1, outcome: '2 notes' })
    expect(entries.map(look)).toEqual([
      { kind: 'check', title: 'Check', about: '2 entries', outcome: '2 notes', took: 60 },
      { kind: 'request', title: 'tools/list', outcome: 'result', took: 30 },
      { kind: 'log', title: 'Listed', took: 0 },
    ])
    const [check, ...others] = entries
    expect(check?.members).toEqual(others)
    expect(others.map((each) => each.group)).toEqual([check, check])
  })

  it('folds the messages about the state of a task into one entry, which shows the last state', () => {
    const { entries, exchange, send, message } = session()
    const poll = (id: number, taskId: string, status: string): void =>
      exchange(request(id, 'tasks/get', { taskId }), 200, response(id, { taskId, status }))
    const listening = send(request(0, 'subscriptions/listen'))
    poll(1, 'a', 'working')
    poll(2, 'b', 'working')
    exchange(request(3, 'ping'), 200, response(3))
    poll(4, 'a', 'input_required')
    send(request(5, 'tasks/get', { taskId: 'b' }))
    const groups = (): Entry[] => entries.filter(({ members }) => members)
    const task = (about: string): object => ({ kind: 'request', title: 'tasks/get', about })
    expect(groups().map(look)).toEqual([
      { ...task('a'), outcome: 'input_required, 2 messages', took: 140 },
      { ...task('b'), outcome: 'working, 2 messages', took: 'in progress' },
    ])
    message(listening, notification('notifications/tasks', { taskId: 'a', status: 'failed' }))
    expect(groups()[0]).toMatchObject({ outcome: 'failed, 3 messages', failed: true })
    expect(groups().map(({ members }) => members?.length)).toEqual([3, 2])
    expect(entries.filter(({ group }) => !group).map(({ title }) => title)).toEqual([
      'subscriptions/listen',
      'tasks/get',
      'tasks/get',
      'ping',
    ])
  })

  it('shows a stream as open until it ends, and then how long it was open', () => {
    const { entries, send, head, message, end } = session()
    const http = send(request(1, 'tools/call'))
    head(http, 200, 'text/event-stream')
    const part = () => entries[0]?.parts.find(({ title }) => title === 'POST /mcp')
    expect(part()).toMatchObject({ note: 'HTTP 200, open stream' })
    expect(part()).not.toHaveProperty('end')
    message(http, response(1))
    end(http)
    expect(part()).toMatchObject({ note: 'HTTP 200, stream', at: 10, end: 40 })
    const listening = send(undefined, 'GET')
    head(listening, 200, 'text/event-stream')
    end(listening)
    expect(entries[1]).toMatchObject({ outcome: 'HTTP 200, stream', start: 50, end: 70 })
  })

  it('shows what the page found wrong with the result of a tool in the row of the call', () => {
    const { entries, add, exchange } = session()
    for (const [index, name] of ['total', 'count'].entries()) {
      exchange(request(index, 'tools/call', { name }), 200, response(index))
    }
    const text = 'The structured content does not match the output schema'
    add({ type: 'notice', at: 0, level: 'warning', text, tool: 'total' })
    expect(entries).toMatchObject([
      { about: 'total', outcome: text, level: 'warning', failed: false },
      { about: 'count', outcome: 'result', level: 'info' },
    ])
  })

  it('shows a request that is sent again after signing in as one entry', () => {
    const { entries, exchange } = session()
    const message = request(1, 'tools/list')
    exchange(message, 401)
    expect(entries.map(look)).toMatchObject([{ outcome: 'HTTP 401', failed: true }])
    exchange(message, 200, response(1))
    expect(entries.map(look)).toEqual([
      { kind: 'request', title: 'tools/list', outcome: 'result', took: 50 },
    ])
    expect(entries[0]?.parts.map(({ note }) => note)).toContain('HTTP 401')
  })

  it('shows a request without a response as failed, cancelled or in progress', () => {
    const { entries, send, head, end, exchange } = session()
    end(send(request(1, 'tools/list')), { error: 'TypeError: Failed to fetch' })
    end(send(request(2, 'tools/call', { name: 'slow' })), { aborted: true })
    const cancelled = send(request(3, 'tools/call', { name: 'slow' }))
    head(cancelled, 200, 'text/event-stream')
    end(send(notification('notifications/cancelled', { requestId: 3 })))
    exchange(request(4, 'ping'), 200, { hello: 'world' })
    send(request(5, 'ping'))
    expect(entries.map(look)).toMatchObject([
      { outcome: 'no response', failed: true },
      { outcome: 'cancelled' },
      { outcome: 'cancelled' },
      { title: 'notifications/cancelled', took: 10 },
      { title: 'ping', outcome: 'HTTP 200' },
      { title: 'ping', took: 'in progress' },
    ])
  })

  it('shows a request that has timed out as failed', () => {
    const { entries, send, end } = session()
    const first = send(request(1, 'tools/call'))
    const reason = '"tools/call" timed out: "timeoutMs" is 60000'
    end(first, { aborted: true, error: reason })
    const second = send(request(2, 'tools/call'))
    const cancelled = { requestId: 2, reason }
    end(send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: cancelled }))
    end(second, { aborted: true })
    const timedOut = { outcome: 'timed out', failed: true }
    expect(entries.slice(0, 2)).toMatchObject([timedOut, timedOut])
    expect(entries[0]?.parts.at(-1)?.note).toBe('"tools/call" timed out after 60 s')
  })

  it('does not show it as a failure that an older server cannot discover its revisions', () => {
    const { entries, exchange } = session()
    const error = { code: -32_601, message: 'Method not found' }
    exchange(request(1, 'server/discover'), 400, { jsonrpc: '2.0', id: 1, error })
    exchange(request(2, 'server/discover'), 404)
    exchange(request(3, 'server/discover'), 500)
    expect(entries).toMatchObject([
      { outcome: 'not supported: error -32601 Method not found', failed: false },
      { outcome: 'HTTP 404', failed: false },
      { outcome: 'HTTP 500', failed: true },
    ])
  })

  it('pairs an error without an id with the only request that it can answer', () => {
    const { entries, exchange } = session()
    const error = { code: -32_700, message: 'Parse error' }
    exchange(request(1, 'tools/list'), 400, { jsonrpc: '2.0', id: null, error })
    expect(entries.map(look)).toMatchObject([{ outcome: 'error -32700 Parse error', failed: true }])
  })

  it('pairs a question of the server with its answer', () => {
    const { entries, send, head, message } = session()
    const http = send(request(1, 'tools/call', { name: 'book' }))
    head(http, 200, 'text/event-stream')
    message(http, request(1, 'elicitation/create', { message: 'Which room?' }))
    send(response(1, { action: 'accept', content: {} }))
    message(http, response(1))
    expect(entries.map(look)).toEqual([
      { kind: 'request', title: 'tools/call', about: 'book', outcome: 'result', took: 40 },
      {
        kind: 'question',
        title: 'elicitation/create',
        about: 'Which room?',
        outcome: 'answered',
        took: 10,
      },
    ])
    expect(entries[1]?.parent).toBe(entries[0])
  })

  it('pairs a question in a result with the answer in the repeated request', () => {
    const { entries, exchange, send } = session()
    const params = { message: 'Which room?' }
    exchange(request(1, 'tools/call', { name: 'book' }), 200, {
      ...response(1, {
        resultType: 'input_required',
        inputRequests: { room: { method: 'elicitation/create', params } },
        requestState: 's',
      }),
    })
    expect(entries.map(look)).toMatchObject([
      { outcome: 'input required' },
      { took: 'in progress' },
    ])
    const inputResponses = { room: { action: 'decline' } }
    send(request(2, 'tools/call', { name: 'book', inputResponses, requestState: 's' }))
    expect(look(entries[1]!)).toMatchObject({ kind: 'question', outcome: 'declined', took: 20 })
  })

  it('shows a question of a task once, however often the task is polled', () => {
    const { entries, exchange } = session()
    const inputRequests = { room: { method: 'elicitation/create', params: { message: 'Which?' } } }
    const task = { taskId: 't', status: 'input_required', inputRequests }
    exchange(request(1, 'tasks/get', { taskId: 't' }), 200, response(1, task))
    exchange(request(2, 'tasks/get', { taskId: 't' }), 200, response(2, task))
    const inputResponses = { room: { action: 'accept' } }
    exchange(request(3, 'tasks/update', { taskId: 't', inputResponses }), 200, response(3))
    const questions = entries.filter(({ kind }) => kind === 'question')
    expect(questions.map(({ outcome }) => outcome)).toEqual(['answered'])
  })

  it('shows a log message with its level and logger, and the request that it belongs to', () => {
    const { entries, send, message } = session()
    const http = send(request(1, 'tools/call', { name: 'count' }))
    const data = { rows: 3 }
    message(http, notification('notifications/message', { level: 'warning', logger: 'db', data }))
    expect(entries[1]).toMatchObject({
      kind: 'log',
      title: '{"rows":3}',
      about: 'db',
      level: 'warning',
      parent: { title: 'tools/call' },
    })
  })

  it('shows the messages of a batch one by one', () => {
    const { entries, exchange } = session()
    const batch = [
      request(1, 'ping'),
      notification('notifications/initialized'),
      request(2, 'ping'),
    ]
    exchange(batch, 200, [response(2), response(1)])
    expect(entries.map(({ title, outcome }) => [title, outcome])).toEqual([
      ['ping', 'result'],
      ['notifications/initialized', undefined],
      ['ping', 'result'],
    ])
  })

  it('does not show as a failure that a server has no stream or no session to end', () => {
    const { entries, send, head, end } = session()
    for (const method of ['GET', 'DELETE']) {
      const http = send(undefined, method)
      head(http, 405)
      end(http)
    }
    expect(entries.map(({ outcome, failed }) => [outcome, failed])).toEqual([
      ['HTTP 405: no stream offered', false],
      ['HTTP 405', false],
    ])
  })

  it('marks the request whose response a connection failed with', () => {
    const { entries, add, exchange } = session()
    exchange(request(0, 'server/discover'), 404)
    exchange(request(1, 'initialize'), 200, response(1))
    add({ type: 'mark', at: 0, text: 'No such revision', failed: true })
    expect(entries).toMatchObject([
      { title: 'server/discover', failed: false },
      { title: 'initialize', outcome: 'not accepted', failed: true, level: 'error' },
      { kind: 'mark', title: 'No such revision', failed: true },
    ])
  })

  it('marks no other request if one has failed, or if the connection was open', () => {
    const { entries, add, exchange } = session()
    exchange(request(0, 'tools/list'), 200, response(0))
    add({ type: 'mark', at: 0, text: 'Disconnected' })
    exchange(request(1, 'server/discover'), 500)
    exchange(request(2, 'initialize'), 200, response(2))
    add({ type: 'mark', at: 0, text: 'It has failed', failed: true })
    const failed = entries.filter((each) => each.failed).map(({ title }) => title)
    expect(failed).toEqual(['server/discover', 'It has failed'])
  })

  it('says that a page sees only exposed headers of other origins', () => {
    const { entries, send, add } = session()
    const http = send(request(1, 'initialize'))
    const headers = { 'content-type': 'application/json' }
    add({
      type: 'response',
      at: 0,
      http,
      status: 200,
      statusText: 'OK',
      headers,
      isCrossOrigin: true,
    })
    expect(entries[0]?.parts.flatMap(({ lines = [] }) => lines).at(-1)).toMatch(
      /only the headers that “Access-Control-Expose-Headers” lists/,
    )
  })

  it('shows a step of signing in once, from its beginning to its end', () => {
    const { entries, add } = session()
    const step = { type: 'step', at: 0, id: 1, title: 'Token', url: 'https://as.example' } as const
    add({ ...step, state: 'running' })
    add({ ...step, state: 'done', status: 200, summary: 'scopes a', said: { scope: 'a' } })
    expect(entries.map(look)).toEqual([
      { kind: 'sign-in', title: 'Token', about: 'scopes a', outcome: 'done', took: 10 },
    ])
    expect(entries[0]?.parts.map(({ body }) => body)).toEqual([{ json: { scope: 'a' } }])
  })

  it('accepts messages whose requests are no longer recorded', () => {
    const { entries, message } = session()
    message(99, response(5))
    message(99, notification('notifications/tools/list_changed'))
    expect(entries.map(({ title }) => title)).toEqual([
      'Response 5',
      'notifications/tools/list_changed',
    ])
  })

  it('omits parts of an entry that has too many, but not its response', () => {
    const { entries, send, message } = session()
    const http = send(request(1, 'tools/call', { _meta: { progressToken: 1 } }))
    for (let progress = 0; progress < 300; progress++) {
      message(http, notification('notifications/progress', { progressToken: 1, progress }))
    }
    message(http, response(1))
    expect(entries[0]?.omitted).toBe(102)
    expect(entries[0]?.parts.at(-1)?.title).toBe('Response')
  })

  it('has its requests as commands of curl, with variables for secrets', () => {
    const { entries, add } = session()
    const headers = { accept: 'text/event-stream', authorization: 'Bearer [redacted]' }
    const params = { name: 'sign-up', arguments: { password: 's3cret', code: 'SE' } }
    const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const http = { http: 1, client: 1, method: 'POST', url: URL } as const
    add({ type: 'request', at: 0, ...http, headers: { ...headers, 'x-key': '[redacted]' }, json })
    const command = entries.map(entryCurl).join()
    expect(command).toContain('"arguments":{"password":"PASSWORD","code":"SE"}')
    expect(JSON.stringify(entries.map(entryJson))).not.toContain('s3cret')
    expect(command).toContain(URL)
    expect(command).toContain('authorization: Bearer $TOKEN')
    expect(command).toContain('x-key: $X_KEY')
  })
})
