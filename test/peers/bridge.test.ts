/**
 * Third-party clients, through `edgewise bridge`: over stdio to a Worker and to servers of
 * the official SDK, and over HTTP to a program.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe } from 'vitest'

import { bundleWorker, startWorker, type Workerd } from '../runtimes/cloudflare/workerd.ts'
import { program as edgewise } from '../runtimes/node/cli/run.ts'
import { connectV1 } from './clients/v1.ts'
import { connectV2 } from './clients/v2.ts'
import { commandOf, newest, type Target } from './contract.ts'
import { exchange } from './exchange.ts'
import { program } from './programs.ts'
import { listenV1, listenV2, type Listening } from './servers/http.ts'

let workerd: Workerd
let v1: Listening
let v2: Listening

beforeAll(async () => {
  workerd = await startWorker(await bundleWorker('../../peers/servers/edgewise-worker.ts'))
  ;[v1, v2] = await Promise.all([listenV1(), listenV2()])
})
afterAll(() => Promise.all([workerd.stop(), v1[Symbol.asyncDispose](), v2[Symbol.asyncDispose]()]))

/** The bridge to a URL, as a program that a host starts. */
const bridge = (url: string): Target => ({
  command: process.execPath,
  args: [...edgewise, 'bridge', url],
})

const behind = [
  ['a Worker', 'edgewise', () => new URL('/mcp', workerd.url).href],
  ['an official v1 server', 'official-v1', () => v1.url],
  ['an official v2 server', 'official-v2', () => v2.url],
] as const

describe.each(behind)('over stdio to %s', (_what, server, url) => {
  describe('official v1 client', () => {
    const connect = () => connectV1(bridge(url()))
    exchange({ revision: newest.legacy, server, connect })
  })

  describe.each(['legacy', 'modern'] as const)('official v2 client (%s)', (era) => {
    exchange({ revision: newest[era], server, connect: () => connectV2(bridge(url()), era) })
  })
})

describe('over HTTP to an official program', () => {
  let child: ChildProcess
  let url: string

  beforeAll(async () => {
    const { command, args } = commandOf(program('v2-stdio'))
    const words = [...edgewise, 'bridge', '--port', '0', '--', command, ...args]
    child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
    url = await new Promise((resolve) => lines.once('line', resolve))
  })
  afterAll(() => child.kill('SIGTERM'))

  describe('official v1 client', () => {
    exchange({ revision: newest.legacy, server: 'official-v2', connect: () => connectV1({ url }) })
  })

  describe('official v2 client (modern)', () => {
    const connect = () => connectV2({ url }, 'modern')
    exchange({ revision: newest.modern, server: 'official-v2', connect })
  })
})
