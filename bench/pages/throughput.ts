/** Clients in a page, timed there: the benchmark opens them and requests rounds through `throughput`. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { connect } from 'edgewise/browser'
import { connect as connectBare } from 'edgewise/client'
import { handshake, template } from '../requests.ts'
import { scenarios } from '../scenarios.ts'

/** The eras that are timed. */
export type Era = 'modern' | 'legacy'

/** The interface of the page for the benchmark. */
export interface Throughput {
  /** Connects a contender and returns the number that identifies it. */
  open(name: string, era: Era): Promise<number>
  /** The duration of calls in milliseconds, some of them concurrent. */
  round(contender: number, calls: number, concurrent: number): Promise<number>
}

type Call = () => Promise<string>

const { params } = scenarios.echo
const { name, arguments: args } = params
const url = new URL('/mcp', location.href).href
const versions = { modern: '2026-07-28', legacy: '2025-11-25' } as const

/** The minimum that every client must do: send the request and parse its response. */
async function floor(era: Era): Promise<Call> {
  const legacy = era === 'legacy' ? await handshake((request) => fetch(request), url) : undefined
  const { headers, body } = template('tools/call', params, legacy)
  let id = 0
  return async () => {
    const response = await fetch(url, { method: 'POST', headers, body: body(++id) })
    const message = JSON.parse(await response.text()) as { result: unknown }
    return textOf(message.result)
  }
}

async function edgewise(open: typeof connect, era: Era): Promise<Call> {
  const client = await open(url, { revision: versions[era] })
  return async () => textOf(await client.callTool(name, args))
}

async function official(era: Era): Promise<Call> {
  const mode = era === 'modern' ? { pin: versions.modern } : era
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return async () => textOf(await client.callTool({ name, arguments: args }))
}

const contenders: Record<string, (era: Era) => Promise<Call>> = {
  floor,
  edgewise: (era) => edgewise(connectBare, era),
  'edgewise/browser': (era) => edgewise(connect, era),
  'official v2': official,
}

function textOf(result: unknown): string {
  const { content } = result as { content?: { text?: string }[] }
  return content?.[0]?.text ?? ''
}

const calls: Call[] = []

const throughput: Throughput = {
  async open(contender, era) {
    const call = await contenders[contender]?.(era)
    if (!call) throw new Error(`Unknown contender: "${contender}"`)
    if ((await call()) !== args.text) throw new Error(`"${contender}" got another answer`)
    return calls.push(call) - 1
  },
  async round(contender, amount, concurrent) {
    const call = calls[contender]
    let left = amount
    const work = async (): Promise<void> => {
      while (left-- > 0) await call?.()
    }
    const begun = performance.now()
    await Promise.all(Array.from({ length: concurrent }, work))
    return performance.now() - begun
  },
}

Object.assign(globalThis, { throughput })
