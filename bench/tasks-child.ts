/** Forked by the tasks benchmark: creates 10,000 tasks and samples the heap while they live and afterwards. */
import { createHandler, createServer } from '../src/presets/server.ts'
import { tasks } from '../src/tasks/index.ts'
import { url } from './requests.ts'
import { taskCall } from './tasks-calls.ts'

const [count, ttlMs] = process.argv.slice(2).map(Number) as [number, number]

const server = createServer({ name: 'bench', version: '1.0.0' })
server.extend(tasks({ ttlMs, maxTasks: count }))
server.tool('task', { task: 'required' }, () => 'done')
const handle = createHandler(server)

const { headers, body } = taskCall('tools/call', { name: 'task' })
async function create(id: number): Promise<void> {
  const response = await handle(new Request(url, { method: 'POST', headers, body: body(id) }))
  const text = await response.text()
  if (!text.includes('"resultType":"task"')) throw new Error(`A task was refused: ${text}`)
}

async function heapMb(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 50))
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 2 ** 20
}

for (let id = 1; id <= 100; id++) await create(id)
await new Promise((resolve) => setTimeout(resolve, ttlMs + 500))
const before = await heapMb()
const mb: number[] = []
for (let round = 0; round < 3; round++) {
  for (let id = 1; id <= count; id++) await create(id)
  mb.push((await heapMb()) - before)
  await new Promise((resolve) => setTimeout(resolve, ttlMs + 500))
  mb.push((await heapMb()) - before)
}
process.send?.(mb)
