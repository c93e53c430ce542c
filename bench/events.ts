/**
 * Whether webhooks lose events: a server emits events to three webhooks, one of which answers errors
 * for part of the time. In Postgres the server is killed twice while it emits and delivers; on workerd
 * its object is evicted and workerd is restarted.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../test/postgres/server.ts'
import type { Bench, Table } from './bench.ts'
import { buildForNode } from './build.ts'
import { startReceiver, urls } from './events-receiver.ts'
import { runOnWorkerd } from './events-workerd.ts'

const EVENTS = 10_000
/** The shares of the events after which the server is killed. */
const KILLED_AT = [0.3, 0.7]
/** The shares of the events between which the webhook is down. */
const DOWN_SHARES = [0.1, 0.5] as const

async function runOnPostgres(total: number): Promise<Table> {
  const receiver = await startReceiver()
  const database = await startPostgres()
  const script = await buildForNode('events-child.ts')

  let emitted = -1
  let kills = 0
  const start = (): ChildProcess => {
    const args = [database.url, receiver.url, String(emitted + 1), String(total), '50']
    // Only the first process subscribes
    return fork(script, kills === 0 ? [...args, urls.join(' ')] : args)
  }
  const startedAt = Date.now()
  let child = start()
  const watch = (): void => {
    child.on('message', (message) => {
      if (typeof message !== 'number') return
      emitted = message
      const share = emitted / total
      receiver.isDown = share >= DOWN_SHARES[0] && share < DOWN_SHARES[1]
    })
  }
  watch()
  try {
    for (const share of KILLED_AT) {
      while (emitted < share * total) await sleep(20)
      child.kill('SIGKILL')
      await once(child, 'exit')
      kills++
      child = start()
      watch()
    }
    await receiver.settled(total)
  } finally {
    child.kill('SIGKILL')
    await database.stop()
    receiver.stop()
  }
  const faults = `the server was killed ${kills} times`
  return receiver.table(total, { label: 'in Postgres', faults, startedAt })
}

export const bench: Bench = {
  title: `${EVENTS} events to ${urls.length} webhooks, with restarts and a receiver that is down`,
  async tables({ scale }) {
    const total = Math.ceil(EVENTS * Math.min(1, scale))
    return [await runOnPostgres(total), await runOnWorkerd(total)]
  },
}
