// Runs the Worker in this folder as `wrangler dev` does, and starts a task. The client
// disconnects and only the task's id remains; another client answers the task's question. While the
// task is running, the Worker is stopped and started again. The task continues, and each step runs
// once.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from 'edgewise/client'
import { taskPolling, createTask, getRemoteTask } from 'edgewise/tasks'
import { unstable_startWorker as startWorker } from 'wrangler'
import { freePort } from '../free-port.ts'

// The example works offline.
process.env.WRANGLER_SEND_METRICS = 'false'
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false'

const storage = await mkdtemp(join(tmpdir(), 'bakery-'))
const port = await freePort()
const start = (): ReturnType<typeof startWorker> =>
  startWorker({
    config: fileURLToPath(new URL('wrangler.toml', import.meta.url)),
    dev: { server: { port }, inspector: false, persist: storage, logLevel: 'error' },
  })
let worker = await start()
const url = new URL('/mcp', await worker.url)

// Any client that has the task's id can continue with the task.
const first = await connect(url, {
  extensions: [taskPolling()],
  onElicit: () => ({ action: 'cancel' }),
})
const started = await createTask(first, 'bake', { cake: 'Sachertorte' })
assert('task' in started)
const taskId = started.task.id
await first.close()

const asked: string[] = []
const second = await connect(url, {
  extensions: [taskPolling()],
  onElicit({ message }) {
    asked.push(message)
    return { action: 'accept', content: { confirm: true } }
  },
})
let restarting: Promise<void> | undefined
const result = await getRemoteTask(second, taskId).result({
  onTask({ statusMessage = '' }) {
    if (statusMessage.startsWith('Baking')) restarting ??= restart()
  },
})

async function restart(): Promise<void> {
  await worker.dispose()
  worker = await start()
  await worker.url
}

await restarting
const order = asked[0]?.replace('Bake ', 'Baked ').replace('?', '')
assert.deepEqual(result.content, [{ type: 'text', text: order }])
assert.equal(asked.length, 1)
assert(restarting, 'The Worker was stopped while the task worked')
console.log(order)

await second.close()
await worker.dispose()
await rm(storage, { recursive: true })
