// How the timeline is filtered, drawn and announced.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { logAnnouncer } from '../../examples/playground/page/timeline/announce-logs.ts'
import {
  createAxis,
  lengthOf,
  trackBackground,
} from '../../examples/playground/page/timeline/axis.ts'
import type { Entry, Kind } from '../../examples/playground/page/timeline/entry.ts'
import { createFilter, isEmpty, isShown } from '../../examples/playground/page/timeline/filter.ts'
import { inSlices } from '../../examples/playground/page/timeline/slices.ts'

const entry = (values: Partial<Entry>): Entry => ({
  id: 1,
  kind: 'request',
  title: 'tools/call',
  direction: 'sent',
  failed: false,
  level: 'info',
  start: 0,
  isStream: false,
  parts: [],
  omitted: 0,
  ...values,
})

/** No check is open. */
const none: ReadonlySet<Entry> = new Set()

describe('The filter of the timeline', () => {
  it('shows everything at first', () => {
    expect(isEmpty(createFilter([], 'debug', ' '))).toBe(true)
  })

  it('shows the chosen kinds', () => {
    const filter = createFilter(['log', 'http'], 'debug', '')
    expect(isShown(entry({ kind: 'log' }), filter, none)).toBe(true)
    expect(isShown(entry({}), filter, none)).toBe(false)
  })

  it('shows the chosen level and above, and failed requests as errors', () => {
    const filter = createFilter([], 'warning', '')
    const shown = (values: Partial<Entry>): boolean => isShown(entry(values), filter, none)
    expect(shown({ level: 'notice' })).toBe(false)
    expect(shown({ level: 'warning' })).toBe(true)
    expect(shown({ level: 'error' })).toBe(true)
    // Otherwise it would be unclear to which connection the rest belongs
    expect(shown({ kind: 'mark' })).toBe(true)
  })

  it('finds all words, in labels, headers and messages', () => {
    const parts = [
      { at: 0, title: 'x', lines: ['mcp-name: plan'], body: { json: { city: 'Quito' } } },
    ]
    const shown = (text: string): boolean =>
      isShown(entry({ about: 'Plan', parts }), createFilter([], 'debug', text), none)
    expect(shown('QUITO plan')).toBe(true)
    expect(shown('mcp-name tools/call')).toBe(true)
    expect(shown('quito oslo')).toBe(false)
  })
})

describe('The entries of a check', () => {
  const check = entry({ kind: 'check', title: 'Check', members: [] })
  const probe = entry({ about: 'nope', group: check })
  check.members?.push(probe)
  const open = new Set([check])
  /** Which of the two are shown. */
  const shown = (kinds: Kind[], text: string, opened = none): boolean[] =>
    [check, probe].map((each) => isShown(each, createFilter(kinds, 'debug', text), opened))

  it('are shown while the check is open', () => {
    expect(shown([], '')).toEqual([true, false])
    expect(shown([], '', open)).toEqual([true, true])
  })

  it('are found by a search, with the row of the check', () => {
    expect(shown([], 'nope')).toEqual([true, true])
    expect(shown([], 'missing')).toEqual([false, false])
  })

  it('are filtered by the kind of the check, and by their own', () => {
    expect(shown(['check'], '', open)).toEqual([true, true])
    expect(shown(['request'], '', open)).toEqual([true, true])
    expect(shown(['request'], '')).toEqual([false, false])
    expect(shown(['log'], '', open)).toEqual([false, false])
  })
})

it('A filter of errors finds the row of a task of which one poll has failed', () => {
  const task = entry({ members: [] })
  const failed = entry({ level: 'error', failed: true, group: task })
  task.members?.push(failed, entry({ group: task }))
  const errors = createFilter([], 'error', '')
  expect(isShown(task, errors, none)).toBe(true)
  expect(isShown(failed, errors, none)).toBe(false)
  expect(isShown(failed, errors, new Set([task]))).toBe(true)
})

describe('The axis of the timeline', () => {
  it('is linear while something is active', () => {
    const axis = createAxis([
      { start: 100, end: 200 },
      { start: 150, end: 300 },
    ])
    expect([100, 150, 200, 300].map(axis.position)).toEqual([0, 0.25, 0.5, 1])
    expect(lengthOf(axis)).toBe('200 ms')
    expect(axis.pauses).toEqual([])
  })

  it('shortens pauses to a third of it', () => {
    const axis = createAxis([
      { start: 0, end: 100 },
      { start: 60_000, end: 60_100 },
    ])
    expect(axis.position(100)).toBeCloseTo(1 / 3)
    expect(axis.position(30_000)).toBeLessThanOrEqual(2 / 3)
    expect(axis.position(60_000)).toBeCloseTo(2 / 3)
    expect(axis.position(60_100)).toBe(1)
    expect(lengthOf(axis)).toBe('200 ms + a pause')
    expect(trackBackground(axis, 'red')).toBe(
      'linear-gradient(90deg, red 0 33.33%, transparent 0 66.67%, red 0 100%)',
    )
  })

  it('places moments without a duration', () => {
    const axis = createAxis([0, 10, 40].map((at) => ({ start: at, end: at })))
    expect([0, 10, 40, 50].map(axis.position)).toEqual([0, 0.25, 1, 1])
    expect(createAxis([{ start: 5, end: 5 }]).position(5)).toBe(0)
  })
})

describe('The announcements of log messages', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('are as many as a person can listen to, however many messages arrive', async () => {
    const announced: string[] = []
    const announce = logAnnouncer((text) => announced.push(text))
    announce(entry({ kind: 'request' }))
    announce(entry({ kind: 'log', level: 'info', title: 'Started' }))
    await vi.advanceTimersByTimeAsync(1)
    for (let line = 0; line < 1000; line++) announce(entry({ kind: 'log', level: 'error' }))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(announced).toEqual([
      'Log, info: Started',
      '1000 log messages, 1000 of them warnings or errors',
    ])
  })
})

describe('Long work in slices', () => {
  it('lets the page do other work in between, and stops when it is aborted', async () => {
    const controller = new AbortController()
    let worked = 0
    const work = inSlices(
      Array.from({ length: 100 }),
      () => {
        worked++
        const start = performance.now()
        while (performance.now() - start < 2);
      },
      controller.signal,
    )
    expect(worked).toBeLessThan(100)
    controller.abort()
    expect(await work).toBe(false)
    expect(worked).toBeLessThan(100)
  })
})
