/**
 * A Worker that calls another one on workerd, over RPC and over `fetch` of the same binding, compared
 * to a bare RPC method and a bare fetch handler.
 */
import { Miniflare } from 'miniflare'
import { type Bench, ratioTable } from './bench.ts'
import { buildWorker } from './build.ts'
import { compare, type Contender, type Measured } from './compare.ts'
import { children, costOf } from './cpu.ts'

/** Rounds that are not counted, as V8 is still optimizing. */
const WARM_ROUNDS = 6

/** The ways to call, by the path of the calling Worker. */
const ways = [
  ['floor', 'RPC', 'bare-rpc'],
  ['floor', 'fetch', 'bare-fetch'],
  ['edgewise', 'RPC', 'rpc'],
  ['edgewise', 'fetch', 'fetch'],
] as const

function module(contents: string) {
  return {
    modules: [{ type: 'ESModule' as const, path: 'worker.mjs', contents }],
    compatibilityDate: '2026-04-01',
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
  }
}

async function open(
  [name, note, path]: (typeof ways)[number],
  calls: number,
  query: string,
): Promise<Contender> {
  const [calling, called] = await Promise.all(
    ['bindings-caller.ts', 'bindings-callee.ts'].map(buildWorker),
  )
  const before = children()
  const miniflare = new Miniflare({
    cf: false,
    workers: [
      {
        name: 'caller',
        ...module(calling ?? ''),
        serviceBindings: {
          SERVED: 'served',
          BARE: { name: 'served', entrypoint: 'Bare' },
          MCP: { name: 'served', entrypoint: 'Mcp', props: { principal: 'bench' } },
        },
      },
      {
        name: 'served',
        ...module(called ?? ''),
        durableObjects: {
          MCP_SESSION: { className: 'McpSession', useSQLite: true },
          MCP_HUB: { className: 'McpHub', useSQLite: true },
        },
      },
    ],
  })
  await miniflare.ready
  const url = new URL(`/${path}?calls=${calls}${query}`, await miniflare.unsafeGetDirectURL())
  const pid = [...children()].find((child) => !before.has(child))
  const round: Contender['round'] = () =>
    costOf(pid, async () => {
      const response = await fetch(url)
      const text = await response.text()
      if (!response.ok) throw new Error(`"${name}" over ${note} answered ${text}`)
      return Number(text)
    })
  for (let warm = 0; warm < WARM_ROUNDS; warm++) await round()
  return { name, note, round, close: () => miniflare.dispose() }
}

function measure(calls: number, query: string, rounds: number): Promise<Measured[]> {
  return compare(
    async () => {
      const contenders: Contender[] = []
      for (const way of ways) contenders.push(await open(way, calls, query))
      return contenders
    },
    { generations: 2, rounds },
  )
}

export const bench: Bench = {
  title:
    'A Worker that calls a Worker on workerd (CPU time of both; share is of a bare RPC method)',
  tables: async ({ scale }) => {
    const rounds = Math.ceil(8 * scale)
    return [
      ratioTable('many calls of one client', 'RPC ≥ 2 × fetch', await measure(2000, '', rounds)),
      ratioTable('a client for each call', 'RPC ≥ fetch', await measure(500, '&each', rounds)),
    ]
  },
}
