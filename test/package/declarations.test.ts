import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { runToEnd } from '../process.ts'
import { root } from '../root.ts'

// What a module exports without annotations: its declarations have to name the types.
const module = `
import { uriTemplate } from 'edgewise'
import { dpop, memoryTokenStore, privateKeyJwt, signIn } from 'edgewise/authorization'
import * as client from 'edgewise/client'
import * as tinyClient from 'edgewise/client/tiny'
import { dpopProofs, jwtTokens, protectedResource } from 'edgewise/protected-resource'
import * as server from 'edgewise/server'
import * as tiny from 'edgewise/server/tiny'
import { skills } from 'edgewise/skills'
import { adaptSqlite, type SqliteDatabase } from 'edgewise/sqlite'
import { tasks } from 'edgewise/tasks'
import { recordTransport, scriptedEvents, scriptedFetch, scriptedPeer } from 'edgewise/testing'
import { toolFunctions } from 'edgewise/toolset'
import { inMemoryTransports } from 'edgewise/transport'
declare const database: SqliteDatabase
declare const remote: client.Transport

export const mcp = server.createServer({ name: 'travel', version: '1.0.0' })
export const tool = mcp.tool('greet', {}, () => 'Hello')
export const resource = mcp.resource('travel://x', { name: 'x' }, () => 'x')
export const prompt = mcp.prompt('plan', {}, () => 'Plan')
export const template = uriTemplate('travel://cities/{city}')
export const cities = mcp.resourceTemplate(template, { name: 'city' }, () => 'x')
export const notify = mcp.notify
export const handle = server.createHandler(mcp)
export const mounted = mcp.mount('git', server.fromServer(mcp))
export const source = server.fromServer(mcp)
export const upstream = server.fromClient((options) => client.connect(remote, options))
export const sessions = [server.statefulSessions(), server.sealedSessions()]
export const store = server.createMemorySessionStore()
export const tickets = server.createTickets()
export const failure = server.toolError('Sold out')
export const limit = server.rateLimit({ requests: 1, perMs: 1000 })
export const known = server.authenticate(() => ({ principal: 'x' }))
export const extensions = [tasks(), skills([])]
export const small = tiny.createServer({ name: 'travel', version: '1.0.0' })
export const smallTool = small.tool('greet', {}, () => 'Hello')
export const smallFailure = tiny.toolError('Sold out')

export const connected = client.connect('https://example.com/mcp')
export const smallClient = tinyClient.connect('https://example.com/mcp')
export const reconnecting = client.createReconnectingClient('https://example.com/mcp')
export const cache = client.resultCache()
export const fallback = tinyClient.httpSse
export const proofs = dpop()
export const tokens = memoryTokenStore()
export const observe = client.observeSignIn

export const verifier = dpopProofs()
export const verify = jwtTokens()
export const auth = protectedResource({
  resource: 'https://example.com/mcp',
  authorizationServers: ['https://example.com'],
  verify,
})
export const sql = adaptSqlite(database)
export const recorder = recordTransport(inMemoryTransports()[0])
export const events = scriptedEvents()
export const http = scriptedFetch(() => new Response())
export const peer = scriptedPeer(() => {})
export const functions = toolFunctions
export { privateKeyJwt, signIn }
`

describe('Declarations of modules that use the package', () => {
  it('name every type that its functions return', async () => {
    const folder = join(root, '.cache', 'declarations')
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(join(folder, 'node_modules'), { recursive: true })
    // A package of its own, as within this one declarations may name any file
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    symlinkSync(root, join(folder, 'node_modules', 'edgewise'))
    writeFileSync(join(folder, 'module.ts'), module)
    const compilerOptions = {
      outDir: 'out',
      rootDir: '.',
      preserveSymlinks: true,
      composite: false,
      isolatedDeclarations: false,
      lib: ['ES2023', 'ESNext.Disposable', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
      types: [],
    }
    const project = join(folder, 'tsconfig.json')
    const settings = { extends: '../../tsconfig.json', compilerOptions, files: ['module.ts'] }
    writeFileSync(project, JSON.stringify({ ...settings, references: [] }))
    await runToEnd(['node', 'node_modules/@typescript/native/bin/tsc', '-p', project])
  })
})
