// What every store of tasks must do, as a portable suite.
import type { TaskRecordStore } from '../../src/tasks/store.ts'
import type { TaskRecord, TaskStore } from '../../src/tasks/index.ts'
import { equal, ok, type Suite } from '../runtimes/harness.ts'

/** Opens an empty store; `reopen` gives another one on the same data, where data outlives a store. */
export type Open<Store> = () => Promise<{ store: Store; reopen?: () => Store }>

/** A task as a store gets it. */
export function taskRecord(taskId: string, changes: Partial<TaskRecord> = {}): TaskRecord {
  return {
    taskId,
    version: 1,
    status: 'working',
    createdAt: 1000,
    lastUpdatedAt: 1000,
    ttlMs: 60_000,
    pollIntervalMs: 500,
    call: {
      revision: '2026-07-28',
      params: { name: 'ü𝄞', arguments: { __proto__: null } },
      client: { info: undefined, capabilities: { elicitation: {} } },
      principal: null,
    },
    recording: { answers: {}, steps: { 'a step': [1] }, open: {} },
    inputs: {},
    answers: {},
    usedKeys: [],
    ...changes,
  }
}

const of = (principal: string | null): Partial<TaskRecord> => ({
  call: { ...taskRecord('').call, principal },
})
const next = (record: TaskRecord, changes: Partial<TaskRecord>): TaskRecord => ({
  ...record,
  ...changes,
  version: record.version + 1,
})
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** The suite for what keeps single tasks. */
export function taskRecordStoreSuite(open: Open<TaskRecordStore>): Suite {
  return {
    'A task is loaded as it was stored, by another store too': async () => {
      const { store, reopen } = await open()
      const record = taskRecord('one')
      equal(await store.save(record), true)
      equal(plain(await store.load('one')), plain(record))
      if (reopen) equal(plain(await reopen().load('one')), plain(record))
    },

    'A task that was not stored, or was removed, is not found': async () => {
      const { store } = await open()
      for (const id of ['', 'unknown', '__proto__', "' OR 1=1 --"]) {
        equal((await store.load(id)) ?? null, null)
      }
      await store.save(taskRecord('one'))
      await store.save(taskRecord('two'))
      await store.remove('one')
      await store.remove('unknown')
      equal((await store.load('one')) ?? null, null)
      ok(await store.load('two'), 'The other is gone')
    },

    'A change is stored only if it follows the stored version': async () => {
      const { store } = await open()
      const first = taskRecord('one')
      equal(await store.save(first), true)
      equal(await store.save(first), false)
      const second = next(first, { status: 'completed', result: { content: [] } })
      equal(await store.save(second), true)
      equal(await store.save(next(first, { status: 'cancelled' })), false)
      equal(await store.save(next(next(second, {}), {})), false)
      equal(plain(await store.load('one')), plain(second))
      equal(await store.save(next(taskRecord('never'), {})), false)
    },

    'A task longer than a row is stored whole, and can become shorter again': async () => {
      const { store } = await open()
      const long = taskRecord('long', { result: { text: 'é𝄞'.repeat(700_000) } })
      await store.save(long)
      equal(JSON.stringify(await store.load('long')).length, JSON.stringify(long).length)
      equal(plain(await store.load('long')), plain(long))
      const short = next(long, { result: { text: 'x' } })
      await store.save(short)
      equal(plain(await store.load('long')), plain(short))
      for (const length of [599_000, 600_000, 601_000]) {
        const record = taskRecord(`${length}`)
        const missing = length - JSON.stringify({ ...record, error: '' }).length
        for (const by of [-1, 0, 1]) {
          const id = `${length}${by}`
          const each = taskRecord(id, { statusMessage: 'x'.repeat(missing + by) })
          await store.save(each)
          equal(plain(await store.load(id)), plain(each))
        }
      }
    },
  }
}

/** The suite for what knows all tasks as well. */
export function taskStoreSuite(open: Open<TaskStore>): Suite {
  return {
    ...taskRecordStoreSuite(open),

    'Tasks are counted, of all and of each principal': async () => {
      const { store } = await open()
      equal(await store.count(), 0)
      await store.save(taskRecord('1', of('ada')))
      await store.save(taskRecord('2', of('ada')))
      await store.save(taskRecord('3', of(null)))
      equal(await store.count(), 3)
      equal(
        [await store.count('ada'), await store.count('eve'), await store.count(null)],
        [2, 0, 1],
      )
      await store.remove('1')
      equal([await store.count(), await store.count('ada')], [2, 1])
    },

    'Tasks of a principal are listed in the order of their creation': async () => {
      const { store } = await open()
      for (const id of ['c', 'a', 'd', 'b']) await store.save(taskRecord(id, of('ada')))
      await store.save(taskRecord('e', of(null)))
      const ids = async (limit: number, after?: string): Promise<string[]> =>
        (await store.list('ada', limit, after)).map(({ taskId }) => taskId)
      equal(await ids(10), ['c', 'a', 'd', 'b'])
      equal(await ids(2), ['c', 'a'])
      equal(await ids(2, 'a'), ['d', 'b'])
      equal(await ids(2, 'b'), [])
      equal((await store.list('eve', 10)).length, 0)
    },

    'Expired tasks, and tasks that are not in a final state, are found': async () => {
      const { store } = await open()
      equal((await store.nextExpiry()) ?? null, null)
      await store.save(taskRecord('soon', { ttlMs: 10 }))
      await store.save(taskRecord('later', { ttlMs: 20 }))
      const done = taskRecord('done', { ttlMs: 30 })
      await store.save(done)
      await store.save(next(done, { status: 'failed' }))
      equal(await store.nextExpiry(), 1010)
      equal((await store.expired(1009)).length, 0)
      equal(
        (await store.expired(1020)).map(({ taskId }) => taskId),
        ['soon', 'later'],
      )
      equal(
        (await store.unfinished()).map(({ taskId }) => taskId),
        ['soon', 'later'],
      )
      await store.remove('soon')
      equal(await store.nextExpiry(), 1020)
    },
  }
}
