/** A small call to a local HTTP server on Deno or Bun, under load from autocannon. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Bench, ratioTable } from './bench.ts'
import { bundleForNode } from './build.ts'
import { compare, type Contender } from './compare.ts'
import { servers } from './fetch.ts'
import { costOfCalls } from './load.ts'
import { handshake, template } from './requests.ts'
import { scenarios } from './scenarios.ts'
import type { Way } from './subject.ts'
import type { SubjectName } from './subjects/index.ts'

/** A runtime, and the share of the floor's calls that `serve` must reach there. */
type Runtime = 'deno' | 'bun'

const GOALS = { deno: '≥ 65 %', bun: '≥ 75 %' }
const COMMANDS = { deno: ['run', '--allow-all', '--no-config'], bun: ['run'] }
const CONNECTIONS = 16
const CALLS = 2000
/** Rounds that are not counted, while code is compiled. */
const WARM_ROUNDS = 6
const { method, params, answered } = scenarios.echo

/** The program of a runtime itself: its command is a script that starts it. */
function program(runtime: Runtime): string {
  const path = runtime === 'deno' ? 'deno/deno' : 'bun/bin/bun.exe'
  return fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url))
}

async function open(
  runtime: Runtime,
  script: string,
  name: SubjectName,
  way: Way,
): Promise<Contender> {
  const child = spawn(program(runtime), [...COMMANDS[runtime], script, name, way], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string]
  const url = `http://127.0.0.1:${port}/mcp`
  const legacy = way === 'modern' ? undefined : await handshake((asked) => fetch(asked), url)
  const call = template(method, params, legacy)
  const first = await fetch(url, { method: 'POST', headers: call.headers, body: call.body(1) })
  const answer = await first.text()
  if (!answered(answer)) throw new Error(`"${name}" answered ${answer}`)
  const round = (): ReturnType<Contender['round']> =>
    costOfCalls(name, child.pid, url, call, CALLS, CONNECTIONS)
  for (let warm = 0; warm < WARM_ROUNDS; warm++) await round()
  const close = async (): Promise<void> => {
    child.kill()
    await once(child, 'exit')
  }
  return { name, note: way, round, close }
}

/** Creates the benchmark of a runtime. */
export function runtimeHttp(runtime: Runtime): Bench {
  return {
    title: `tools/call over HTTP on ${runtime}, ${CONNECTIONS} connections; other SDKs are handlers of the runtime's own server`,
    tables: async ({ scale }) => {
      const script = await bundleForNode('runtime-http-child.ts')
      const rows = (await servers(['session', 'modern'])).filter(
        ([name, way]) => name !== 'floor' || way === 'modern',
      )
      const start = async (): Promise<Contender[]> => {
        const contenders: Contender[] = []
        for (const [name, way] of rows) contenders.push(await open(runtime, script, name, way))
        return contenders
      }
      const measured = await compare(start, {
        generations: Math.ceil(2 * scale),
        rounds: Math.ceil(10 * scale),
      })
      return [ratioTable(`${CONNECTIONS} connections`, `cpu share ${GOALS[runtime]}`, measured)]
    },
  }
}
