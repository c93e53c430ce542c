/**
 * Which kind of client works with which kind of server: each cell over HTTP and over stdio, with
 * Edgewise on one side and an official SDK on the other, or the other way round.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#compatibility-matrix
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { serve, type HttpServer } from '../../runtimes/node/index.ts'
import { revisions, type Revision } from '../../src/index.ts'
import { connectEdgewise } from './clients/edgewise.ts'
import { connectV1 } from './clients/v1.ts'
import { connectV2 } from './clients/v2.ts'
import { booked, greeting, newest, question, type PeerClient, type Target } from './contract.ts'
import { program } from './programs.ts'
import { createPeerServer } from './servers/edgewise.ts'
import { listenModernV2, listenV1, listenV2 } from './servers/http.ts'
import { sharedPipe } from './shared-pipe.ts'

const legacy = revisions.filter(({ era }) => era === 'legacy').map(({ version }) => version)
const modern: Revision[] = [newest.modern]

/** The servers, by what they speak. */
interface Servers {
  readonly edgewise: { readonly modern: Target; readonly legacy: Target; readonly dual: Target }
  readonly v1: Target
  readonly v2: { readonly modern: Target; readonly dual: Target }
}

const closing: (() => Promise<unknown>)[] = []
afterAll(() => Promise.all(closing.map((close) => close())))

async function listening(): Promise<Servers> {
  const listen = async (given?: Revision[]): Promise<HttpServer> => {
    const server = createPeerServer(given ? { revisions: given } : {})
    const http = await serve(server, { port: 0 })
    closing.push(() => http.close())
    return http
  }
  const official = await Promise.all([listenV1(), listenModernV2(), listenV2()])
  for (const one of official) closing.push(async () => one[Symbol.asyncDispose]())
  return {
    edgewise: { modern: await listen(modern), legacy: await listen(legacy), dual: await listen() },
    v1: official[0],
    v2: { modern: official[1], dual: official[2] },
  }
}

function programs(): Servers {
  return {
    edgewise: {
      modern: program('edgewise-stdio', ...modern),
      legacy: program('edgewise-stdio', ...legacy),
      dual: program('edgewise-stdio'),
    },
    v1: program('v1-stdio'),
    v2: { modern: program('v2-stdio', 'modern'), dual: program('v2-stdio') },
  }
}

/** Talks, and hangs up: a call, and a call in which the user is asked. */
async function works(connecting: Promise<PeerClient>, revision: Revision): Promise<void> {
  await using client = await connecting
  expect(client.revision).toBe(revision)
  expect((await client.callTool('greet', { name: 'Ada' })).text).toBe(greeting('Ada'))
  expect((await client.callTool('book', { city: 'Oslo' })).text).toBe(booked('Oslo', true))
  expect(client.asked).toEqual([question('Oslo')])
}

/** What a connection failed with; hangs up and fails if it did not. */
async function failure(connecting: Promise<PeerClient>): Promise<Error & { data?: unknown }> {
  const client = await connecting.catch((error: Error) => error)
  if (client instanceof Error) return client
  await client[Symbol.asyncDispose]()
  throw new Error('The two agreed, which they must not')
}

describe.each([
  ['HTTP', listening],
  ['stdio', programs],
] as const)('over %s', (transport, start) => {
  let servers: Servers

  beforeAll(async () => {
    servers = await start()
  })

  describe('a modern client and a modern server', () => {
    test('work together as Edgewise and official v2 [M-COMPAT-037]', () =>
      works(connectEdgewise(servers.v2.modern, 'modern'), newest.modern))

    test('work together as official v2 and Edgewise [M-COMPAT-037]', () =>
      works(connectV2(servers.edgewise.modern, 'modern'), newest.modern))
  })

  describe('a modern client and a legacy server', () => {
    test('do not connect as Edgewise and official v1, and the error says why [M-COMPAT-037] [M-COMPAT-036]', async () => {
      const error = await failure(connectEdgewise(servers.v1, 'modern'))
      expect(error).toMatchObject({ name: 'SdkError', code: 'VERSION_MISMATCH' })
      expect(error.message).toMatch(/2026-07-28/)
    })

    test('do not connect as official v2 and Edgewise with sessions only [M-COMPAT-037] [M-COMPAT-036]', async () => {
      const error = await failure(connectV2(servers.edgewise.legacy, 'modern'))
      expect(error.message).toMatch(/version|2026-07-28|negotiat/i)
    })
  })

  describe('a dual client and a modern server', () => {
    test('stay modern as Edgewise and official v2 [M-COMPAT-037] [M-DISC-001]', () =>
      works(connectEdgewise(servers.v2.modern), newest.modern))

    test('stay modern as official v2 and Edgewise [M-COMPAT-037] [M-DISC-001]', () =>
      works(connectV2(servers.edgewise.modern, 'auto'), newest.modern))
  })

  describe('a dual client and a legacy server', () => {
    test('open a session as Edgewise and official v1 [M-COMPAT-037]', () =>
      works(connectEdgewise(servers.v1), newest.legacy))

    test('open a session as official v2 and Edgewise [M-COMPAT-037]', () =>
      works(connectV2(servers.edgewise.legacy, 'auto'), newest.legacy))
  })

  describe('a legacy client and a modern server', () => {
    test('do not connect as Edgewise and official v2, and the error is reported [M-COMPAT-037] [M-COMPAT-019]', async () => {
      const error = await failure(connectEdgewise(servers.v2.modern, 'legacy'))
      expect(error).toMatchObject({ name: 'SdkError', code: 'VERSION_MISMATCH' })
      expect(error.message).toMatch(/the server 2026-07-28$/)
    })

    test('do not connect as official v1 or v2 and Edgewise, which lists its versions [M-COMPAT-037] [M-COMPAT-019]', async () => {
      for (const connect of [connectV1, (target: Target) => connectV2(target, 'legacy')]) {
        const error = await failure(connect(servers.edgewise.modern))
        expect(`${error.message} ${JSON.stringify(error.data)}`).toContain('2026-07-28')
      }
    })
  })

  describe('a legacy client and a dual server', () => {
    test('open a session as Edgewise and official v2 [M-COMPAT-037] [M-COMPAT-003]', () =>
      works(connectEdgewise(servers.v2.dual, 'legacy'), newest.legacy))

    test('open a session as official v1 or v2 and Edgewise [M-COMPAT-037] [M-COMPAT-003]', async () => {
      await works(connectV1(servers.edgewise.dual), newest.legacy)
      await works(connectV2(servers.edgewise.dual, 'legacy'), newest.legacy)
    })
  })

  describe('a legacy client and a legacy server', () => {
    test('work together as Edgewise and official v1 [M-COMPAT-037]', () =>
      works(connectEdgewise(servers.v1, 'legacy'), newest.legacy))

    test('work together as official v1 and Edgewise [M-COMPAT-037]', () =>
      works(connectV1(servers.edgewise.legacy), newest.legacy))
  })

  test(`a dual client and a legacy client work at the same time on one ${transport === 'HTTP' ? 'endpoint' : 'process'} [M-COMPAT-001] [M-COMPAT-013]`, async () => {
    const pipe = transport === 'stdio' ? sharedPipe(servers.edgewise.dual) : undefined
    const target = (): Target => (pipe ? { pipe: pipe.open() } : servers.edgewise.dual)
    await using both = await connectV2(target(), 'auto')
    await using session = await connectV1(target())
    expect([both.revision, session.revision]).toEqual([newest.modern, newest.legacy])
    const clients = [both, session, both, session, both, session]
    const answers = await Promise.all(
      clients.flatMap((client, at) => [
        client.callTool('book', { city: `Oslo ${at}` }),
        client.callTool('greet', { name: `Ada ${at}` }),
      ]),
    )
    expect(answers.map(({ text }) => text)).toEqual(
      clients.flatMap((_, at) => [booked(`Oslo ${at}`, true), greeting(`Ada ${at}`)]),
    )
    expect(both.asked.toSorted()).toEqual([0, 2, 4].map((at) => question(`Oslo ${at}`)))
    expect(session.asked.toSorted()).toEqual([1, 3, 5].map((at) => question(`Oslo ${at}`)))
    await pipe?.[Symbol.asyncDispose]()
  })
})
