/** The measuring side of a forked contender. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Ready, Took } from './child.ts'
import type { Contender, Cost } from './compare.ts'

/**
 * Starts `script` in a Node process of its own, so that one contender's garbage and type feedback
 * do not touch another's, warms it up, and sizes its rounds to take about `roundMs`.
 * Warm is a contender that has done 3,000 calls, or as many as it can in `warmupMs`.
 *
 * @param script a compiled script that calls `serveRounds`
 */
export async function forkContender(
  name: string,
  script: string,
  args: readonly string[],
  options: { warmupMs: number; roundMs: number },
): Promise<Contender> {
  const child = fork(script, args, {
    execArgv: ['--enable-source-maps'],
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const failed = new Promise<never>((_, reject) => {
    child.once('exit', (code) =>
      reject(new Error(`${name} (${args.join(' ')}) ended with ${code}`)),
    )
  })
  failed.catch(() => {})
  const next = async <T>(): Promise<T> => {
    const [message] = await Promise.race([once(child, 'message'), failed])
    return message as T
  }
  const run = async (calls: number): Promise<Cost> => {
    child.send(calls)
    const { wallUs, cpuUs } = await next<Took>()
    return { wallUs: wallUs / calls, cpuUs: cpuUs / calls }
  }

  const { note } = await next<Ready>()
  let us = (await run(5)).wallUs
  let warmed = 0
  const warmUntil = Date.now() + options.warmupMs
  while (warmed < 3000 && Date.now() < warmUntil) {
    const calls = Math.max(5, Math.ceil(20_000 / us))
    us = (await run(calls)).wallUs
    warmed += calls
  }
  const calls = Math.max(1, Math.ceil((options.roundMs * 1000) / us))
  return {
    name,
    note,
    round: () => run(calls),
    async close() {
      child.removeAllListeners('exit')
      child.kill()
      await once(child, 'exit')
    },
  }
}
