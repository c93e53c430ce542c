/** stdio on Node: the time until a spawned server has answered `initialize`, and pipelined calls. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { type Bench, ratioTable } from './bench.ts'
import { buildForNode, bundleForNode } from './build.ts'
import { compare, type Contender, type Cost } from './compare.ts'
import { costOf, cpuUsOf } from './cpu.ts'
import { initialize, initialized, template } from './requests.ts'

const servers = [
  { name: 'floor', file: 'stdio-servers/floor.ts' },
  { name: 'edgewise', file: 'stdio-servers/edgewise.ts' },
  { name: 'edgewise, no zod', file: 'stdio-servers/edgewise-json-schema.ts' },
  { name: 'official v2', file: 'stdio-servers/official.ts' },
  { name: 'tmcp', file: 'stdio-servers/tmcp.ts' },
] as const

type Child = ChildProcessByStdio<Writable, Readable, null>

/** The byte that ends a line. */
const NEWLINE = 10

const line = (message: object): string => `${JSON.stringify(message)}\n`

function start(script: string): Child {
  return spawn(process.execPath, [script], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

async function end(child: Child): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Resolves with the last line when `count` lines have arrived. */
function lines(child: Child, count: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let left = count
    let tail = ''
    const read = (chunk: Buffer): void => {
      for (const byte of chunk) if (byte === NEWLINE) left--
      tail = `${tail}${chunk.toString('latin1')}`.slice(-1000)
      if (left > 0) return
      child.stdout.off('data', read)
      child.off('exit', fail)
      resolve(tail.trimEnd().split('\n').at(-1) ?? '')
    }
    const fail = (code: number | null): void => reject(new Error(`Server ended with ${code}`))
    child.stdout.on('data', read)
    child.once('exit', fail)
  })
}

async function openSession(child: Child): Promise<void> {
  const answered = lines(child, 1)
  child.stdin.write(line(initialize))
  const text = await answered
  if (!text.includes('"protocolVersion"')) throw new Error(`Initialize was answered ${text}`)
}

/** Spawns a new server in each round, and waits until `initialize` is answered. */
async function coldStart(name: string, script: string): Promise<Contender> {
  return {
    name,
    note: 'spawn to answered initialize',
    async round(): Promise<Cost> {
      const begun = performance.now()
      const child = start(script)
      await openSession(child)
      const wallUs = (performance.now() - begun) * 1000
      const cpuUs = cpuUsOf(child.pid)
      await end(child)
      return cpuUs === undefined ? { wallUs } : { wallUs, cpuUs }
    },
    close: async () => {},
  }
}

/** The number of calls written at once, and how often a round does that. */
const CALLS_AT_ONCE = 50
const BATCHES = 40

/** Uses one server; writes a batch of calls, awaits all of their responses, and repeats. */
async function pipelined(name: string, script: string): Promise<Contender> {
  const child = start(script)
  await openSession(child)
  child.stdin.write(line(initialized))
  const params = {
    name: 'echo',
    arguments: { text: 'The quick brown fox jumps over the lazy dog' },
  }
  const { body } = template('tools/call', params, { revision: '2025-11-25', sessionId: undefined })
  let id = 0
  const calls = async (): Promise<number> => {
    let last = ''
    for (let batch = 0; batch < BATCHES; batch++) {
      let text = ''
      for (let call = 0; call < CALLS_AT_ONCE; call++) text += `${body(++id)}\n`
      const answered = lines(child, CALLS_AT_ONCE)
      child.stdin.write(text)
      last = await answered
    }
    if (!last.includes('"The quick brown fox')) throw new Error(`"${name}" answered ${last}`)
    return CALLS_AT_ONCE * BATCHES
  }
  const round = (): Promise<Cost> => costOf(child.pid, calls)
  for (let warm = 0; warm < 3; warm++) await round()
  return { name, note: `${CALLS_AT_ONCE} calls in flight`, round, close: () => end(child) }
}

export const bench: Bench = {
  title: 'stdio on Node',
  tables: async ({ scale }) => {
    const installed = await scriptsBy(buildForNode)
    const bundled = await scriptsBy(bundleForNode)
    const starts = { generations: 1, rounds: Math.ceil(8 * scale) }
    return [
      ratioTable(
        'cold start, packages as installed',
        'none set: zod alone takes it to about 1.8',
        await compare(() => each(installed, coldStart), starts),
      ),
      ratioTable(
        'cold start, bundled into one file',
        'ratio ≤ 1.4',
        await compare(() => each(bundled, coldStart), starts),
      ),
      ratioTable(
        'pipelined calls',
        'share ≥ 60 %',
        await compare(() => each(installed, pipelined), {
          generations: 2,
          rounds: Math.ceil(12 * scale),
        }),
      ),
    ]
  },
}

type Scripts = readonly (readonly [name: string, script: string])[]

function scriptsBy(compile: (file: string) => Promise<string>): Promise<Scripts> {
  return Promise.all(servers.map(async ({ name, file }) => [name, await compile(file)] as const))
}

function each(
  scripts: Scripts,
  open: (name: string, script: string) => Promise<Contender>,
): Promise<Contender[]> {
  return Promise.all(scripts.map(([name, script]) => open(name, script)))
}
