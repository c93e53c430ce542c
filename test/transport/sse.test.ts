import { expect, test } from 'vitest'
import { SdkError } from '../../src/protocol/errors.ts'
import { SseParser } from '../../src/transport/http/sse.ts'

function parse(pieces: Iterable<string>): { events: [string, string][]; parser: SseParser } {
  const events: [string, string][] = []
  const parser = new SseParser((type, data) => events.push([type, data]), 1_000)
  for (const piece of pieces) parser.push(piece)
  return { events, parser }
}

const awkward = [
  ': a comment',
  'event: message',
  'data:{"jsonrpc":"2.0",',
  'data: "id":1,"result":{"t":"漢"}}',
  'foo: bar',
  'data',
  '',
  'id: 7',
  'event: endpoint',
  'data:  /a',
  '',
  'data',
  'data',
  '',
  'data: unfinished',
  '',
].slice(0, -1)

test.each(['\n', '\r\n', '\r'])(
  'events parse the same for every cut, with lines that end in %j [M-HTTP-029]',
  (end) => {
    const text = awkward.join(end)
    const whole = parse([text]).events
    expect(whole).toEqual([
      ['message', '{"jsonrpc":"2.0",\n"id":1,"result":{"t":"漢"}}\n'],
      ['endpoint', ' /a'],
      ['message', '\n'],
    ])
    for (let cut = 0; cut <= text.length; cut++) {
      expect(parse([text.slice(0, cut), '', text.slice(cut)]).events).toEqual(whole)
    }
    expect(parse(text).events).toEqual(whole)
  },
)

test('an event without data is not given, yet its id and retry are kept [L-HTTP-019]', () => {
  for (const data of ['data:\n', 'data: \n', '']) {
    const { events, parser } = parse([`id: p1\nretry: 500\n${data}\n`])
    expect(events).toEqual([])
    expect(parser.lastEventId).toBe('p1')
    expect(parser.retryMs).toBe(500)
  }
})

test('an id with NUL and a retry that is not a number are ignored', () => {
  const { parser } = parse(['id: ok1\n\n', 'id: a\0b\n\n', 'retry: 1500\n\n', 'retry: 5x\n\n'])
  expect(parser.lastEventId).toBe('ok1')
  expect(parser.retryMs).toBe(1500)
})

test('an id counts once its event has ended, an empty id resets it', () => {
  expect(parse(['id: 1\n\nid: 2\ndata: x']).parser.lastEventId).toBe('1')
  expect(parse(['id: 1\n\nid\n\n']).parser.lastEventId).toBe('')
})

test('an event over the limit is refused, in one line or in many', () => {
  expect(() => parse([`data: ${'x'.repeat(2_000)}`])).toThrow(SdkError)
  expect(() => parse(Array.from({ length: 200 }, () => 'data: 12345678\n'))).toThrow(SdkError)
  expect(parse(Array.from({ length: 200 }, () => 'data: 12345678\n\n')).events).toHaveLength(200)
})

test('a long event in small pieces takes linear work', () => {
  const events: number[] = []
  const parser = new SseParser((_, data) => events.push(data.length), 1e8)
  parser.push('data: ')
  for (let piece = 0; piece < 16_384; piece++) parser.push('x'.repeat(1_024))
  parser.push('\n\n')
  expect(events).toEqual([16_384 * 1_024])
})

test('A parser starts over with the next stream, keeps the last event id, and drops an incomplete event', () => {
  const events: string[] = []
  const parser = new SseParser((_, data) => events.push(data), 1_000)
  parser.push('id: 7\nretry: 5\ndata: a\n\nid: 8\nevent: x\ndata: b\ndata: c\r')
  parser.begin()
  expect([parser.lastEventId, parser.retryMs]).toEqual(['7', 5])
  parser.push('\ndata: d\n\n')
  expect(events).toEqual(['a', 'd'])
})
