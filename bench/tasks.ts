/**
 * Tasks: creating one and getting it for the first time on workerd, compared to a bare object that
 * writes and reads one row; and whether memory stays flat when tasks expire.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type Bench, ratioTable, type Table } from './bench.ts'
import { buildForNode } from './build.ts'
import { compare, type Contender } from './compare.ts'
import { costOfWork } from './load.ts'
import { start, type Running } from './objects-host.ts'
import { taskCall } from './tasks-calls.ts'
import type { Template } from './requests.ts'

const TASKS = 40
const LIVE = 10_000
const TTL_MS = 60_000

async function post(url: string, { headers, body }: Template): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers, body: body(1) })
  const text = await response.text()
  if (!response.ok) throw new Error(`"${url}" answered ${response.status}: ${text}`)
  return text
}

/** Repeatedly creates a task and gets it for the first time. */
function creating(name: string, note: string, url: string, workerd: Running): Contender {
  const createAndGet = async (): Promise<void> => {
    const created = await post(url, taskCall('tools/call', { name: 'task' }))
    const taskId = /"taskId":"([^"]+)"/.exec(created)?.[1]
    const seen = await post(url, taskCall('tasks/get', { taskId }))
    if (!/"status":"(?:working|completed)"/.test(seen)) throw new Error(`"${name}" gave ${seen}`)
  }
  return {
    name,
    note,
    close: () => Promise.resolve(),
    round: () => costOfWork(workerd.pid, createAndGet, TASKS),
  }
}

async function measureCreating(rounds: number) {
  return compare(
    async () => {
      const workerd = await start('tasks-worker.ts')
      const contenders: [Contender, ...Contender[]] = [
        creating('floor', 'one row', workerd.urlOf('/bare'), workerd),
        creating('edgewise', 'task', workerd.urlOf('/mcp'), workerd),
      ]
      for (const contender of contenders) await contender.round()
      contenders[0].close = workerd.stop
      return contenders
    },
    { generations: 1, rounds },
  )
}

async function heap(scale: number): Promise<Table> {
  const script = await buildForNode('tasks-child.ts')
  const count = Math.ceil(LIVE * Math.min(1, scale))
  const ttlMs = Math.ceil(TTL_MS * Math.min(1, scale))
  const child = fork(script, [String(count), String(ttlMs)], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const [mb] = (await once(child, 'message')) as [number[]]
  child.kill()
  const rounds = mb.flatMap((_, at) => (at % 2 ? ['expired'] : [`${count} live`]))
  return {
    label: 'heap, MB over the start',
    goal: 'flat after expiry',
    head: ['', ...rounds],
    rows: [['edgewise', '', ...mb.map((value) => value.toFixed(1))]],
    data: { count, ttlMs, mb },
  }
}

export const bench: Bench = {
  title: 'Tasks on workerd (share is of the floor’s tasks/s) and in one process',
  tables: async ({ scale }) => [
    ratioTable('create, then get', 'share ≥ 60 %', await measureCreating(Math.ceil(8 * scale))),
    await heap(scale),
  ],
}
