// The commands about server cards, and servers that are given as a domain.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { discoverServers } from '../../../../runtimes/node/cli/domain.ts'
import { serve } from '../../../../runtimes/node/index.ts'
import { aiCatalog, cardHandler, serverCard } from '../../../../src/cards/index.ts'
import type { ServerCard } from '../../../../src/cards/types.ts'
import type { HttpServer } from '../../../../src/transport/index.ts'
import { root } from '../../../root.ts'
import { command, edgewise } from './run.ts'
import { makeServer } from './server.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgewise-cards-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Serves a server with a card and a catalog on loopback. */
async function serveWith(
  change: Partial<ServerCard> = {},
  listed: (card: ServerCard) => Parameters<typeof aiCatalog>[0] = (card) => [card],
): Promise<HttpServer> {
  const server = makeServer()
  const { port, ...probe } = await serve(server)
  await probe.close()
  const remotes = [`http://127.0.0.1:${port}/mcp`]
  const own = { name: 'com.example/shop', description: 'Sells things.', remotes, development: true }
  const card = { ...serverCard(server, own), ...change }
  const catalog = aiCatalog(listed(card), { development: true })
  return serve(server, { port, card: cardHandler(card, { catalog, paths: ['/mcp/server-card'] }) })
}

/** Lists the card itself, and not its address. */
const embedded = (data: ServerCard): Parameters<typeof aiCatalog>[0] => [
  { identifier: data.name, type: 'application/mcp-server-card+json', data },
]

const domainOf = ({ port }: HttpServer): string => `127.0.0.1:${port}`

describe('A server that is given as a domain', () => {
  it('is found by its card, and called', async () => {
    await using http = await serveWith()
    const { code, out, err } = await command('call', domainOf(http), 'add', 'a=1', 'list:=[2]')
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('"sum":3') })
    expect(err).toBe(`Using "shop" at http://127.0.0.1:${http.port}/mcp\n`)
  })

  it('is reported if it differs from its card', async () => {
    await using http = await serveWith({ version: '9.9.9' })
    const { code, err } = await command('list', domainOf(http))
    expect(code).toBe(0)
    expect(err).toContain('The card gives "9.9.9" as "version", but the server gives "2.0.0"')
  })

  it('needs the values that its card asks for, unless a header is given', async () => {
    const header = {
      name: 'X-Key',
      isRequired: true,
      value: 'Key {key}',
      variables: { key: { isRequired: true } },
    }
    await using http = await serveWith()
    const url = `http://127.0.0.1:${http.port}/mcp`
    await using asking = await serveWith(
      { remotes: [{ type: 'streamable-http', url, headers: [header] }] },
      embedded,
    )
    const missing = await command('list', domainOf(asking))
    expect([missing.code, missing.err]).toEqual([3, expect.stringContaining('pass --input key=…')])
    for (const words of [
      ['--input', 'key=1'],
      ['--header', 'x-key: 1'],
    ]) {
      expect(await command('list', domainOf(asking), ...words)).toMatchObject({ code: 0 })
    }
  })

  it('must be one of several, and on a host of the domain', async () => {
    const two = (card: ServerCard) => {
      const remote = { type: 'streamable-http' as const, url: 'https://other.example.com/mcp' }
      return [card, { ...card, name: 'com.example/other', remotes: [remote] }].map((data) => {
        return { identifier: data.name, type: 'application/mcp-server-card+json', data }
      })
    }
    await using several = await serveWith({}, two)
    const ambiguous = await command('list', domainOf(several))
    expect([ambiguous.code, ambiguous.err]).toEqual([3, expect.stringContaining('specify one')])
    await using foreign = await serveWith({}, (card) => two(card).slice(1))
    const denied = await command('list', domainOf(foreign))
    expect([denied.code, denied.err]).toEqual([
      3,
      expect.stringContaining('if you trust it, specify its URL'),
    ])
    await using empty = await serveWith({}, () => [])
    expect(await command('list', domainOf(empty))).toMatchObject({
      code: 3,
      err: expect.stringContaining('lists no servers'),
    })
  })

  it('cannot be found if its host does not answer', async () => {
    const http = await serveWith()
    await http.close()
    const { code, err } = await command('list', domainOf(http))
    expect([code, err]).toEqual([
      3,
      expect.stringContaining('Cannot find the servers of 127.0.0.1'),
    ])
  })
})

describe('edgewise discover', () => {
  it('lists the servers of a domain, and what cannot be used', async () => {
    const broken = { identifier: 'broken', type: 'application/mcp-server-card+json', data: {} }
    await using http = await serveWith({}, (card) => [card, broken])
    const { code, out, err } = await command('discover', domainOf(http))
    expect([code, out]).toEqual([0, `  shop  http://127.0.0.1:${http.port}/mcp  Sells things.\n`])
    expect(err).toContain(
      'broken cannot be used: The document is not a server card: "name" must be',
    )
    const json = await command('discover', domainOf(http), '--json')
    expect(JSON.parse(json.out)).toMatchObject([{ name: 'com.example/shop' }])
  })

  it('prints the texts of cards as text, each on a line of its own [E-CARD-088]', async () => {
    const markup = (member: string): string => `<img alt=${member}>\u001b[2J\n  forged  https://a`
    const shown = (member: string): string =>
      `<img alt=${member}>\\u001b[2J\\u000a  forged  https://a`
    const texts = { title: markup('title'), description: markup('description') }
    const broken = { identifier: markup('id'), type: 'application/mcp-server-card+json', data: {} }
    await using http = await serveWith(texts, (card) => [card, broken])
    const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    try {
      const options = { json: false, timeoutMs: undefined }
      expect(await discoverServers([domainOf(http)], options)).toBe(0)
      const url = `http://127.0.0.1:${http.port}/mcp`
      expect(out.mock.calls).toEqual([[`  ${shown('title')}  ${url}  ${shown('description')}\n`]])
      expect(String(err.mock.calls[0])).toContain(`${shown('id')} cannot be used`)
    } finally {
      vi.restoreAllMocks()
    }
  })

  it('needs a domain', async () => {
    expect(await command('discover')).toMatchObject({ code: 2 })
    expect(await command('discover', 'a b')).toMatchObject({ code: 2 })
  })
})

describe('edgewise card and registry-entry', () => {
  const module = `
    import { serverCard } from '${root}dist/src/cards/index.js'
    import { createServer } from '${root}dist/src/presets/server.js'
    const server = createServer({ name: 'travel', version: '1.2.3', description: 'Books trips' })
    export const card = serverCard(server, { name: 'com.example/travel', remotes: ['https://example.com/mcp'] })
    export const packages = [{ registryType: 'npm', identifier: 'travel', version: '1.2.3', transport: { type: 'stdio' } }]
  `
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, text)
    return path
  }

  it('print the card of a module, and its entry for the registry', async () => {
    const serving = `console.log('Serving'); setInterval(() => {}, 1000)`
    const path = await write('server.mjs', module + serving)
    const card = await edgewise('card', path)
    expect(card).toMatchObject({ code: 0, err: 'Serving\n' })
    expect(JSON.parse(card.out)).toMatchObject({ name: 'com.example/travel', version: '1.2.3' })
    const { code, out, err } = await edgewise('registry-entry', path)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      ...{ name: 'com.example/travel', packages: [{ identifier: 'travel' }] },
      ...{ remotes: [{ type: 'streamable-http', url: 'https://example.com/mcp' }] },
    })
    expect(err).toContain('does not support "remotes[0].supportedProtocolVersions"')
    expect(err).toContain('The entry is valid')
    const file = await write('server.json', out)
    expect(await edgewise('registry-entry', file)).toMatchObject({ code: 0, out })
  })

  it('report what is wrong', async () => {
    const path = await write('server.mjs', module)
    const invalid = await write('bad.json', JSON.stringify({ name: 'a', version: 'latest' }))
    const cases: [words: string[], message: string][] = [
      [['card'], 'Specify a file'],
      [['card', join(folder, 'missing.mjs')], 'Cannot load'],
      [['card', await write('none.mjs', 'export const x = 1')], 'has no export "card"'],
      [['card', await write('other.mjs', 'export const card = { name: 1 }')], '"name" must be'],
      [['registry-entry', invalid], '"name" must be'],
      [['registry-entry', await write('broken.json', '{')], 'Cannot read'],
      [['card', path, '--dry-run'], '"card" does not support "--dry-run"'],
    ]
    for (const [words, message] of cases) {
      expect(await edgewise(...words)).toMatchObject({
        code: 2,
        err: expect.stringContaining(message),
      })
    }
  })
})
