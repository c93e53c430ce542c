// Tasks whose alarms ring early, twice or late, and tasks that hang.
import type { MiniflareOptions } from 'miniflare'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ErrorCode } from '../../../src/index.ts'
import {
  bundleWorker,
  impatient,
  startWorker,
  withTasks,
  type Workerd,
} from '../cloudflare/workerd.ts'
import { textOf, wireOver, type Wire } from '../../tasks/fixture.ts'

let workerd: Workerd
let wire: Wire

beforeAll(async () => {
  const durableObjects = {
    ...(withTasks.durableObjects as object),
    JOURNAL: { className: 'Journal', useSQLite: true },
  }
  const options = { durableObjects } as Partial<MiniflareOptions>
  const script = await bundleWorker('../tasks/clock-worker.ts')
  workerd = await startWorker(impatient(script), options)
  wire = wireOver((request) => workerd.handle(request, {}))
})
afterAll(() => workerd?.stop())

const ring = async (taskId: string): Promise<void> => {
  const rung = await Promise.all([1, 2].map(() => workerd.get(`/ring?task=${taskId}`)))
  expect(rung.map(({ status }) => status)).toEqual([200, 200])
}
const keys = async (taskId: string): Promise<unknown> =>
  (await workerd.get(`/keys?task=${taskId}`)).json()
const journal = async (): Promise<string[]> =>
  (await (await workerd.get('/journal')).json()) as string[]

test('A task is neither run twice nor forgotten when its alarm rings early and twice', async () => {
  const taskId = await wire.start('ask')
  await wire.until(taskId, 'input_required')
  await ring(taskId)
  const inputResponses = { sure: { action: 'accept', content: { yes: true } } }
  await wire.result('tasks/update', { taskId, inputResponses })
  const done = await wire.until(taskId, 'completed')
  expect(textOf(done.result)).toBe('accept true')
  await ring(taskId)
  expect((await wire.result('tasks/get', { taskId })).status).toBe('completed')
  expect((await journal()).filter((each) => each === 'pay')).toHaveLength(1)
})

test('A task store that hangs blocks no request, and the task is found again once it recovers', async () => {
  const taskId = await wire.start('quick')
  await wire.until(taskId, 'completed')
  await workerd.get('/tasks-hang?while=true')
  for (const [method, params] of [
    ['tasks/get', { taskId }],
    ['tasks/cancel', { taskId }],
    ['tasks/update', { taskId, inputResponses: { sure: { action: 'decline' } } }],
  ] as const) {
    const { error } = await wire.call(method, params)
    expect(error?.code, method).toBe(ErrorCode.INTERNAL_ERROR)
  }
  const { result } = await wire.call('tools/call', { name: 'ask' })
  expect(result).toMatchObject({ isError: true })
  await workerd.get('/tasks-hang?while=false')
  expect((await wire.result('tasks/get', { taskId })).status).toBe('completed')
})

test('A task whose alarm is a day late is unknown to every client meanwhile, and then deleted', async () => {
  const taskId = await wire.start('quick')
  const { ttlMs } = await wire.until(taskId, 'completed')
  await workerd.get(`/clock-is-ahead?ms=${Number(ttlMs) + 86_400_000}`)
  const { error } = await wire.call('tasks/get', { taskId })
  expect(error?.code).toBe(ErrorCode.INVALID_PARAMS)
  await ring(taskId)
  expect(await keys(taskId)).toEqual([])
})
