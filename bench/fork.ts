/** The parent process of a forked contender. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Ready, Duration } from './child.ts'
import type { Contender, Cost } from './compare.ts'

/**
 * Starts `script` in its own Node process, so that garbage and type feedback of contenders stay
 * separate, warms it up, and sizes its rounds to take about `roundMs`. A contender is warm after 4,000
 * calls, or after the number of calls that take `warmupMs` of CPU time.
 *
 * @param script A compiled script that calls `serveRounds`.
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
  const run = async (calls: number): Promise<Required<Cost>> => {
    child.send(calls)
    const { wallUs, cpuUs } = await next<Duration>()
    return { wallUs: wallUs / calls, cpuUs: cpuUs / calls }
  }

  const { note } = await next<Ready>()
  // By CPU time, so that a contender is also warm on a busy machine.
  let { cpuUs } = await run(5)
  for (let calls = 0, spentUs = 0; calls < 4000 && spentUs < options.warmupMs * 1000;) {
    const chunk = Math.ceil(10_000 / cpuUs)
    const cost = await run(chunk)
    calls += chunk
    spentUs += cost.cpuUs * chunk
    cpuUs = Math.min(cpuUs, cost.cpuUs)
  }
  const calls = Math.ceil((options.roundMs * 1000) / cpuUs)
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
