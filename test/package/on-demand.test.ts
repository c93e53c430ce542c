// Files of an application that are missing, for example because a new version was deployed.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type * as Client from '../../src/presets/client.ts'
import type * as Server from '../../src/presets/server.ts'
import { root } from '../root.ts'

type Application = typeof Client & Pick<typeof Server, 'createHandler' | 'createServer'>

const folder = join(root, '.cache', 'on-demand')
let application: Application

beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  const contents = `
    export * from 'edgewise/client'
    export { createHandler, createServer } from 'edgewise/server'`
  await build({
    ...{ bundle: true, splitting: true, format: 'esm', outdir: folder, entryNames: 'application' },
    outExtension: { '.js': '.mjs' },
    stdin: { contents, resolveDir: root },
  })
  const parts = readdirSync(folder).filter((file) => file.startsWith('on-demand'))
  expect(parts).toHaveLength(1)
  rmSync(join(folder, String(parts[0])))
  application = (await import(pathToFileURL(join(folder, 'application.mjs')).href)) as Application
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function connect(options: Client.ConnectOptions = {}) {
  const server = application.createServer({ name: 'travel', version: '1.0.0' })
  server.tool('greet', {}, () => 'Hello')
  const handle = application.createHandler(server)
  return application.connect('https://example.com/mcp', {
    fetch: (url, init) => handle(new Request(url, init)),
    ...options,
  })
}

describe('A client whose code for some features cannot be loaded', () => {
  const failure = {
    name: 'SdkError',
    code: 'NETWORK',
    message: 'Cannot load part of the client',
    cause: { code: 'ERR_MODULE_NOT_FOUND' },
  }

  it('cannot connect with a handler', async () => {
    await expect(connect({ onElicit: () => ({ action: 'decline' }) })).rejects.toMatchObject(
      failure,
    )
  })

  it('calls tools, but cannot subscribe', async () => {
    await using client = await connect()
    await expect(client.listen({ toolsListChanged: true })).rejects.toMatchObject(failure)
    expect((await client.callTool('greet')).content).toEqual([{ type: 'text', text: 'Hello' }])
  })
})
