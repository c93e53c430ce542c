import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { toNodeListener } from '../../../../runtimes/node/index.ts'
import { createSseHandler } from '../../../../src/presets/server.ts'
import { bundleWorker, startWorker, type Workerd } from '../../cloudflare/workerd.ts'
import { runLines } from '../../../process.ts'
import { testElsewhere } from '../../elsewhere.ts'
import { makeServer } from '../../../server/fixture.ts'
import { sseSuite, type Send } from './suite.ts'

const titles = Object.keys(sseSuite(() => Promise.reject(new Error('Only the titles count here'))))
const flags = [
  '--no-remote',
  '--node-modules-dir=manual',
  '--no-prompt',
  '--no-lock',
  '--allow-all',
]

describe('On Node', () => {
  const handle = createSseHandler(makeServer().server)
  const server = createServer(toNodeListener(handle))
  beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)))
  afterAll(async () => {
    await handle.close()
    server.closeAllConnections()
    server.close()
  })
  const send: Send = (path, init) => {
    const { port } = server.address() as AddressInfo
    return fetch(new URL(path, `http://127.0.0.1:${port}`), init)
  }
  const suite = sseSuite(() => Promise.resolve(send))
  it.each(titles)('%s', (title) => suite[title]?.())
})

describe('On workerd', () => {
  let workerd: Workerd
  beforeAll(async () => {
    workerd = await startWorker(await bundleWorker('worker.ts'))
  })
  afterAll(() => workerd.stop())
  const suite = sseSuite(() =>
    Promise.resolve((path, init) => fetch(new URL(path, workerd.url), init)),
  )
  it.each(titles)('%s', (title) => suite[title]?.())
})

describe.each([
  ['Deno', ['deno', 'run', ...flags, 'test/runtimes/transport/http-sse/main.ts']],
  ['Bun', ['bun', '--no-install', 'test/runtimes/transport/http-sse/main.ts']],
])('On %s', (_name, command) => {
  testElsewhere((line) => runLines(command, line), titles)
})
