import { setImmediate } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createMemoryTaskStore } from '../../src/tasks/store.ts'
import { ErrorCode, ProtocolError } from '../../src/index.ts'
import { text } from '../../src/presets/server.ts'
import type { TaskRecord, TaskStore } from '../../src/tasks/index.ts'
import * as states from '../../src/tasks/state.ts'
import { until } from '../client/peers.ts'
import { openWire } from '../server/wire.ts'
import { gate, makeFixture, textOf, wireTo, type Fixture } from './fixture.ts'
import { taskRecord } from './store-suite.ts'

const accept = { action: 'accept', content: { yes: true } }

/** A store that a process uses until it dies; nothing that the process does is kept afterwards. */
function mortal(store: TaskStore): { store: TaskStore; die(): void } {
  let dead = false
  const alive = <T>(work: () => T | Promise<T>): Promise<T> =>
    dead ? new Promise<T>(() => {}) : Promise.resolve(work())
  return {
    die: () => void (dead = true),
    store: {
      load: (id) => alive(() => store.load(id)),
      save: (record) => alive(() => store.save(JSON.parse(JSON.stringify(record)) as TaskRecord)),
      remove: (id) => alive(() => store.remove(id)),
      count: (principal) => alive(() => store.count(principal)),
      list: (principal, limit, after) => alive(() => store.list(principal, limit, after)),
      expired: (now) => alive(() => store.expired(now)),
      unfinished: () => alive(() => store.unfinished()),
      nextExpiry: () => alive(() => store.nextExpiry()),
    },
  }
}

/** Two processes, one after the other, over one store. `stop` is where the first one stops. */
function twoProcesses(stop: 'before' | 'within' | 'after'): {
  first: Fixture
  second: Fixture
  stopped: Promise<void>
  die(): void
  effects: string[]
} {
  const shared = createMemoryTaskStore()
  const process = mortal(shared)
  const { opened: stopped, open } = gate()
  const effects: string[] = []
  let runs = 0
  const make = (store: TaskStore): Fixture => {
    const fixture = makeFixture({ store, leaseMs: 50 })
    fixture.server.tool('two-steps', { task: 'required' }, async (_args, ctx) => {
      const dies = ++runs === 1
      const hang = async (where: string): Promise<void> => {
        if (!dies || where !== stop) return
        open()
        await new Promise(() => {})
      }
      await ctx.step('first', () => void effects.push('first'))
      await hang('before')
      await ctx.step('second', async () => {
        await hang('within')
        effects.push('second')
      })
      await hang('after')
      return text('done')
    })
    return fixture
  }
  return { first: make(process.store), second: make(shared), stopped, die: process.die, effects }
}

describe('A process that ends', () => {
  test.each(['before', 'within', 'after'] as const)(
    '%s the second step leaves a task that another continues with; each step has its effect once [M-TASK-072]',
    async (stop) => {
      const { first, second, stopped, die, effects } = twoProcesses(stop)
      const taskId = await wireTo(first.server).start('two-steps')
      await stopped
      die()
      await second.tasks.resume()
      const done = await wireTo(second.server).until(taskId, 'completed')
      expect(textOf(done.result)).toBe('done')
      expect(effects).toEqual(['first', 'second'])
    },
  )

  test('leaves questions that another takes the answers to', async () => {
    const shared = createMemoryTaskStore()
    const process = mortal(shared)
    const first = makeFixture({ store: process.store })
    const taskId = await wireTo(first.server).start('ask')
    await wireTo(first.server).until(taskId, 'input_required')
    process.die()
    const second = makeFixture({ store: shared })
    await second.tasks.resume()
    const wire = wireTo(second.server)
    await wire.result('tasks/update', { taskId, inputResponses: { sure: accept } })
    expect(textOf((await wire.until(taskId, 'completed')).result)).toBe('accept true r1')
    expect([...first.ran, ...second.ran]).toEqual(['ask', 'price', 'ask', 'pay'])
  })
})

describe('Several processes over one store', () => {
  test('work on a task only once, and see what the others do to it', async () => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    })
    onTestFinished(() => void vi.useRealTimers())
    const store = createMemoryTaskStore()
    const leases = { store, leaseMs: 60_000 }
    const [one, two] = [makeFixture(leases), makeFixture(leases)]
    const taskId = await wireTo(one.server).start('for-ever')
    await until(() => one.ran.includes('for-ever'))
    await two.tasks.resume()
    // Longer than a claim lasts without renewal
    for (let turn = 0; turn < 30; turn++) await vi.advanceTimersByTimeAsync(6_000)
    expect(two.ran).toEqual([])
    await wireTo(two.server).result('tasks/cancel', { taskId })
    await vi.advanceTimersByTimeAsync(60_000)
    await until(() => one.ran.includes('aborted'))
    expect((await wireTo(one.server).result('tasks/get', { taskId })).status).toBe('cancelled')
  })

  test('keep their tasks when the store was not available for longer than their leases', async () => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    })
    onTestFinished(() => void vi.useRealTimers())
    const shared = createMemoryTaskStore()
    let isDown = false
    const check = (): void => {
      if (!isDown) return
      throw new ProtocolError(ErrorCode.INTERNAL_ERROR, 'Down', { retryAfterMs: 5_000 })
    }
    const store: TaskStore = {
      ...mortal(shared).store,
      load: (id) => (check(), shared.load(id)),
      save: (record) => (check(), shared.save(record)),
      unfinished: () => (check(), shared.unfinished()),
    }
    const [one, two] = [1, 2].map(() => makeFixture({ store, leaseMs: 60_000 }))
    if (!one || !two) throw new Error('There are two')
    // Its timers therefore fire before those of the other
    await two.tasks.resume()
    const taskId = await wireTo(one.server).start('wait')
    await until(() => one.ran.includes('wait'))
    isDown = true
    for (let turn = 0; turn < 30; turn++) await vi.advanceTimersByTimeAsync(6_000)
    isDown = false
    for (let turn = 0; turn < 30; turn++) await vi.advanceTimersByTimeAsync(6_000)
    one.gate.open()
    await until(() => one.ran.includes('waited'))
    expect((await wireTo(two.server).until(taskId, 'completed')).status).toBe('completed')
    expect([...one.ran, ...two.ran]).toEqual(['wait', 'waited'])
    expect([...one.errors, ...two.errors]).toEqual([])
  })

  test('continue once when two clients answer at the same time', async () => {
    const store = createMemoryTaskStore()
    const fixtures = [makeFixture({ store }), makeFixture({ store })]
    for (let turn = 0; turn < 20; turn++) {
      const [one, two] = fixtures.map(({ server }) => wireTo(server))
      if (!one || !two) throw new Error('There are two')
      const taskId = await one.start('ask')
      await two.until(taskId, 'input_required')
      await Promise.all([
        one.result('tasks/update', { taskId, inputResponses: { sure: accept } }),
        two.result('tasks/update', { taskId, inputResponses: { sure: { action: 'decline' } } }),
      ])
      const done = await two.until(taskId, 'completed')
      expect(['accept true r1', 'decline  r1']).toContain(textOf(done.result))
    }
    const ran = fixtures.flatMap((fixture) => fixture.ran)
    expect(ran.filter((what) => what === 'pay')).toHaveLength(20)
  })
})

/** A store whose changes take their time, so that everything overlaps. */
function slow(store: TaskStore): TaskStore {
  let turn = 0
  const later = async <T>(work: () => T | Promise<T>): Promise<T> => {
    for (let n = 0; n < ++turn % 4; n++) await Promise.resolve()
    if (turn % 3 === 0) for (let n = 0; n < turn % 5; n++) await setImmediate()
    return work()
  }
  return {
    ...mortal(store).store,
    load: (id) => later(() => store.load(id)),
    save: (record) => later(() => store.save(record)),
  }
}

describe('Cancelling that races the end', () => {
  test('has one outcome, which stays [M-TASK-028] [M-TASK-050] [L-TASK-015] [L-TASK-040]', async () => {
    const { server, tasks, ran } = makeFixture({ store: slow(createMemoryTaskStore()) })
    const wire = wireTo(server)
    const outcomes = new Set<unknown>()
    for (let turn = 0; turn < 40; turn++) {
      const taskId = await wire.start('job')
      await until(() => ran.length > turn)
      const cancel = () => wire.result('tasks/cancel', { taskId })
      const complete = () => tasks.complete(taskId, text('done'))
      const [first, second] = turn % 2 ? [cancel, complete] : [complete, cancel]
      await Promise.all([first(), second(), tasks.setStatusMessage(taskId, 'racing')])
      const end = await wire.result('tasks/get', { taskId })
      outcomes.add(end.status)
      expect(['completed', 'cancelled']).toContain(end.status)
      expect('result' in end).toBe(end.status === 'completed')
      await Promise.all([cancel(), complete(), tasks.fail(taskId, new Error('late'))])
      expect(await wire.result('tasks/get', { taskId })).toEqual(end)
    }
    expect(outcomes.size).toBeGreaterThan(0)
  })
})

describe('The end of its time', () => {
  test('is reported to the request that waits for the result', async () => {
    const { server } = makeFixture()
    const [one, two] = [await openWire(server), await openWire(server)]
    const created = await one.result('tools/call', { name: 'for-ever', task: {} })
    const { taskId } = created.task as { taskId: string }
    const waiting = [one, two].map((wire) => wire.request('tasks/result', { taskId }))
    for (const wire of [one, two]) await wire.result('tasks/get', { taskId })
    // The clock alone: those who wait see it before the timer of the task rings
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    try {
      for (const { error } of await Promise.all(waiting)) {
        expect(error?.message).toBe('The task expired before it finished')
      }
      expect(await one.code('tasks/result', { taskId })).toBe(ErrorCode.INVALID_PARAMS)
    } finally {
      vi.useRealTimers()
    }
    for (const wire of [one, two]) await wire.close()
  })

  test('of ten thousand tasks leaves nothing of them', async () => {
    const store = createMemoryTaskStore()
    const fixture = makeFixture({ store })
    const engine = fixture.engine({
      store,
      limits: { store, maxTasks: 20_000, maxTasksPerPrincipal: 20_000 },
      begin: () => {},
    })
    const { call } = taskRecord('')
    for (let n = 0; n < 10_000; n++) {
      const made = { taskId: engine.createId(), call, ttlMs: 200 + (n % 50), pollIntervalMs: 1 }
      await engine.create(made, {})
    }
    await expect.poll(() => store.count()).toBe(0)
  })
})

describe('The states of a task', () => {
  const legal: Record<string, string[]> = {
    working: ['working', 'input_required', 'completed', 'failed', 'cancelled'],
    input_required: ['input_required', 'working', 'completed', 'failed', 'cancelled'],
    completed: [],
    failed: [],
    cancelled: [],
  }

  /** Numbers that are the same in every run. */
  function* numbers(): Generator<number, number, undefined> {
    let state = 42
    for (;;) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      yield state / 2 ** 32
    }
  }

  test('make only legal transitions, for any events in any order [L-TASK-014] [L-TASK-015] [M-TASK-028] [M-TASK-016] [M-TASK-041]', () => {
    const random = numbers()
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next().value * from.length)]!
    const question = { request: { method: 'roots/list' as const }, digest: 'digest' }
    const recording = taskRecord('').recording
    const all = (open: string[]): states.Transition[] => [
      states.finish({ result: {} }, () => false),
      states.finish({ result: { isError: true } }, () => true),
      states.finish({ error: { code: 1, message: 'no' } }, () => true),
      states.cancel(),
      ...[1, 2, 3, 4].flatMap(() => [
        states.setStatusMessage(pick(['a', 'b'])),
        states.ask({ q: question, r: question }, { ...recording, open: { q: 'x', r: 'x' } }),
        states.answer(Object.fromEntries(open.map((key) => [key, { answer: {} }]))),
        states.answer({ [pick(['q', 'r', 'x', '__proto__'])]: { answer: {} } }),
        states.saveRecording(recording),
        states.lease('process', 1),
      ]),
    ]
    for (let turn = 0; turn < 500; turn++) {
      let known = taskRecord(`${turn}`)
      const used = new Set<string>()
      for (let step = 0; step < 40; step++) {
        const before = known
        const open = Object.keys(before.inputs)
        const after = pick(all(open))(before, 1000 + pick([0, 5]))
        if (!after) continue
        expect(legal[before.status], `${before.status} became ${after.status}`).toContain(
          after.status,
        )
        expect(after.version).toBe(before.version + 1)
        expect(after.lastUpdatedAt).toBeGreaterThanOrEqual(before.lastUpdatedAt)
        if (after.status !== before.status) {
          expect(after.lastUpdatedAt).toBeGreaterThan(before.lastUpdatedAt)
        }
        expect(after.status === 'input_required').toBe(Object.keys(after.inputs).length > 0)
        for (const key of Object.keys(after.inputs)) {
          if (before.inputs[key] === after.inputs[key]) continue
          expect(used.has(key), `"${key}" was used before`).toBe(false)
          used.add(key)
        }
        known = after
      }
    }
  })
})
