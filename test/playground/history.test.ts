// The history of calls, and the examples that are kept of it.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createCalls,
  MAX_CALLS,
  MAX_CHARACTERS,
  type CallTarget,
} from '../../examples/playground/page/history/calls.ts'
import {
  examplesOf,
  keepExample,
  maskSecrets,
  MAX_EXAMPLES,
  omitSecrets,
  removeExample,
} from '../../examples/playground/page/history/examples.ts'
import { argumentSummary } from '../../examples/playground/page/history/summary.ts'

const target: CallTarget = {
  kind: 'tool',
  key: 'greet',
  title: 'Greet',
  arguments: { name: 'Ada' },
  server: 'https://example.com/mcp',
}

describe('The history of calls', () => {
  it('hides the values of secrets, and not those of a key or a code', () => {
    const values = { name: 'Ada', key: 'a', code: 'b', login: { password: 'hunter2' } }
    expect(argumentSummary({ arguments: values })).toBe(
      'name: "Ada", key: "a", code: "b", login: {"password":"•••"}',
    )
  })

  it('lists calls with their duration and outcome, newest first', () => {
    let now = 0
    const calls = createCalls(() => now)
    const end = calls.begin(target)
    const endSecond = calls.begin({ ...target, key: 'count' })
    expect(calls.list().map(({ key, state }) => [key, state])).toEqual([
      ['count', 'running'],
      ['greet', 'running'],
    ])
    now = 42
    end({ state: 'done', result: { content: [] } })
    endSecond({ state: 'failed', error: 'Timeout' })
    expect(calls.list()).toMatchObject([
      { key: 'count', state: 'failed', error: 'Timeout', durationMs: 42 },
      { key: 'greet', state: 'done', result: { content: [] }, arguments: { name: 'Ada' } },
    ])
  })

  it('measures a call without the time in which it waited for answers of the user', () => {
    let now = 0
    const calls = createCalls(() => now)
    const end = calls.begin(target, () => 50)
    now = 60
    expect(end({ state: 'done' }).durationMs).toBe(10)
  })

  it('drops the oldest calls beyond its number', () => {
    const calls = createCalls()
    for (let index = 0; index <= MAX_CALLS; index++) {
      calls.begin({ ...target, key: `tool-${index}` })({ state: 'done' })
    }
    expect(calls.list()).toHaveLength(MAX_CALLS)
    expect(calls.list().at(-1)?.key).toBe('tool-1')
  })

  it('drops the oldest calls beyond its size, but never the newest one', () => {
    const calls = createCalls()
    const half = 'x'.repeat(MAX_CHARACTERS / 2)
    for (const key of ['a', 'b', 'c'])
      calls.begin({ ...target, key })({ state: 'done', result: half })
    expect(calls.list().map(({ key }) => key)).toEqual(['c', 'b'])
    calls.begin({ ...target, key: 'd' })({ state: 'done', result: [half, half, half] })
    expect(calls.list().map(({ key }) => key)).toEqual(['d'])
  })

  it('notifies of each change, and keeps running calls when it is cleared', () => {
    const calls = createCalls()
    const listener = vi.fn()
    const stop = calls.subscribe(listener)
    calls.begin(target)({ state: 'cancelled' })
    calls.begin(target)
    calls.clear()
    expect(listener).toHaveBeenCalledTimes(4)
    expect(calls.list().map(({ state }) => state)).toEqual(['running'])
    stop()
    calls.clear()
    expect(listener).toHaveBeenCalledTimes(4)
  })
})

describe('Named examples', () => {
  beforeEach(() => {
    const stored = new Map<string, string>()
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
    })
  })
  afterEach(() => void vi.unstubAllGlobals())

  const url = 'https://user:pass@example.com/mcp?token=t0p'
  const example = { name: 'Ada', kind: 'tool', key: 'greet', arguments: { name: 'Ada' } }

  it('are kept for their server and entry, and replaced by name', () => {
    keepExample(url, example)
    keepExample(url, { ...example, arguments: { name: 'Ada L.' } })
    keepExample(url, { ...example, key: 'other' })
    expect(examplesOf(url, 'tool', 'greet')).toEqual([
      { ...example, arguments: { name: 'Ada L.' } },
    ])
    expect(examplesOf('https://other.example/mcp', 'tool', 'greet')).toEqual([])
    removeExample(url, example)
    expect(examplesOf(url, 'tool', 'greet')).toEqual([])
    expect(examplesOf(url, 'tool', 'other')).toHaveLength(1)
  })

  it('contain no secrets, neither of the arguments nor of the address', () => {
    const schema = {
      type: 'object',
      properties: {
        pin: { type: 'string', format: 'password' },
        users: { type: 'array', items: { properties: { code2: { writeOnly: true } } } },
      },
    }
    const values = {
      name: 'Ada',
      pin: 's3cret-1',
      auth: { apiKey: 's3cret-2', user: 'ada' },
      users: [{ code2: 's3cret-3', password: 's3cret-4', id: 1 }],
    }
    keepExample(url, { ...example, arguments: values }, schema)
    expect(omitSecrets(values, schema).omitted).toEqual([
      'pin',
      'auth',
      'users[].code2',
      'users[].password',
    ])
    expect(localStorage.getItem('examples')).not.toMatch(/s3cret|pass@|t0p/)
    expect(examplesOf(url, 'tool', 'greet')[0]?.arguments).toEqual({
      name: 'Ada',
      users: [{ id: 1 }],
    })
  })

  it('contain no value that a referenced schema marks as secret', () => {
    const schema = {
      properties: { login: { $ref: '#/$defs/login' } },
      $defs: { login: { properties: { pin: { writeOnly: true } } } },
    }
    const values = { login: { pin: '1234', user: 'ada' } }
    expect(omitSecrets(values, schema)).toEqual({
      kept: { login: { user: 'ada' } },
      omitted: ['login.pin'],
    })
    expect(maskSecrets(values, schema).kept).toEqual({ login: { pin: 'PIN', user: 'ada' } })
  })

  it('are bounded for each server', () => {
    for (let index = 0; index <= MAX_EXAMPLES; index++) {
      keepExample(url, { ...example, name: `${index}` })
    }
    const names = examplesOf(url, 'tool', 'greet').map(({ name }) => name)
    expect(names).toHaveLength(MAX_EXAMPLES)
    expect(names[0]).toBe('1')
  })

  it('that another program has stored are ignored unless they are valid', () => {
    localStorage.setItem(
      'examples',
      '[{"url": 1}, {"url": "https://a.example/", "examples": [{}]}]',
    )
    expect(examplesOf('https://a.example/', 'tool', 'greet')).toEqual([])
    localStorage.setItem('examples', 'no JSON')
    expect(examplesOf('https://a.example/', 'tool', 'greet')).toEqual([])
  })
})
