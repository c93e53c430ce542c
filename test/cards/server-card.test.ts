import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { serverCard } from '../../src/cards/index.ts'
import { CARD_SCHEMA } from '../../src/cards/types.ts'
import {
  createServer,
  serverExtension,
  text,
  type Server,
  type ServerOptions,
} from '../../src/presets/server.ts'
import { protectedResource } from '../../src/protected-resource/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'

const ENDPOINT = 'https://weather.example.com/mcp'
const INFO = {
  name: 'weather',
  version: '1.0.2',
  title: 'Weather',
  description: 'Tells the weather.',
  websiteUrl: 'https://weather.example.com',
  icons: [{ src: 'https://weather.example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'] }],
}

function weather(options: ServerOptions = {}): Server {
  return createServer(INFO, options)
}

/** Creates a card whose other members are valid. */
function build(options: object): ReturnType<typeof serverCard> {
  const server = weather({ onError: () => {} })
  return serverCard(server, { name: 'com.example/weather', ...options })
}

function withRemote(remote: object): () => unknown {
  const valid = { type: 'streamable-http', url: ENDPOINT }
  return () => build({ remotes: [{ ...valid, ...remote }] })
}

describe('The card of a server', () => {
  it('has the server’s title, description, version, website and icons, and the schema [E-CARD-002] [E-CARD-026]', async () => {
    const server = weather()
    const { name, ...own } = INFO
    expect(serverCard(server, { name: 'com.example/weather' })).toEqual({
      ...{ $schema: CARD_SCHEMA, name: 'com.example/weather', ...own, remotes: [] },
    })
    const { serverInfo } = await connectInMemory(server)
    expect(serverInfo).toMatchObject({ name, ...own })
  })

  it('accepts values of the author in place of those of the server', () => {
    const own = { version: '2.0.0', title: 'Other', description: 'Another.' }
    expect(build(own)).toMatchObject(own)
  })

  it('has the name of a server that is already prefixed', () => {
    const server = createServer({ ...INFO, name: 'com.example/weather' })
    expect(serverCard(server).name).toBe('com.example/weather')
  })

  it('lists for each endpoint the revisions that the server supports [E-CARD-032]', async () => {
    const all = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
    const versions = (card: ReturnType<typeof serverCard>): unknown =>
      card.remotes?.map((remote) => remote.supportedProtocolVersions)
    expect(versions(build({ remotes: [ENDPOINT] }))).toEqual([all])
    const server = weather({ revisions: ['2026-07-28', '2025-06-18'] })
    const card = serverCard(server, { name: 'com.example/weather', remotes: [ENDPOINT] })
    expect(versions(card)).toEqual([['2026-07-28', '2025-06-18']])
    const client = await connectInMemory(server)
    const { supportedVersions } = await client.request('server/discover')
    expect(versions(card)).toEqual([supportedVersions])
  })

  it('mentions the header that carries tokens if the server is protected', () => {
    const auth = protectedResource({
      resource: ENDPOINT,
      authorizationServers: ['https://auth.example.com'],
      verify: () => Promise.resolve(undefined),
    })
    expect(build({ auth, remotes: [ENDPOINT] }).remotes?.[0]).toMatchObject({
      headers: [{ name: 'authorization', isSecret: true }],
    })
  })

  it('contains no tools, resources, prompts, capabilities or extensions [E-CARD-023] [E-CARD-024]', () => {
    const server = weather()
    server.tool('forecast', { input: z.object({}) }, () => text(''))
    server.resource('weather://oslo', { name: 'oslo' }, () => '')
    server.prompt('plan', {}, () => '')
    server.extend(serverExtension({ id: 'com.example/search' }))
    const card = JSON.stringify(serverCard(server, { name: 'com.example/weather' }))
    expect(card).not.toMatch(/forecast|oslo|plan|search|tools|capabilities|extensions/)
    for (const member of [
      'tools',
      'resources',
      'prompts',
      'capabilities',
      'extensions',
      'packages',
    ]) {
      expect(() => build({ [member]: [] })).toThrow(`The server card has no option "${member}"`)
    }
  })

  it('has no signing keys of webhooks [E-CARD-145]', () => {
    expect(() => build({ webhooks: { signingKeys: [] } })).toThrow('has no option "webhooks"')
  })

  it('may have no endpoints, but not anything else in their place [E-CARD-019]', () => {
    expect(build({ remotes: [] }).remotes).toEqual([])
    expect(() => build({ remotes: {} })).toThrow(TypeError)
  })

  it('warns about a name without a domain and a version that is not semantic [E-CARD-006] [E-CARD-010]', () => {
    const warnings: string[] = []
    const server = weather({ onError: (error) => warnings.push(String(error)) })
    serverCard(server, { name: 'com.example/weather' })
    expect(warnings).toEqual([])
    serverCard(server, { name: 'example/weather' })
    serverCard(server, { name: 'com.example/weather', version: '2026-11-28' })
    expect(warnings).toEqual([
      expect.stringContaining('The card "example/weather 1.0.2" lacks a domain'),
      expect.stringContaining('The card "com.example/weather 2026-11-28" lacks'),
    ])
  })
})

describe('The members of a card', () => {
  const long = (length: number): string => 'x'.repeat(length)

  it.each(['com.example/weather', 'a/b', 'example-org/minimal', `a.b/${long(196)}`])(
    'may include the name %.40s [E-CARD-005]',
    (name) => {
      expect(build({ name }).name).toBe(name)
    },
  )

  it.each([
    'weather',
    'a/b/c',
    '/b',
    'a/',
    'a b/c',
    'com.example/wet_ter!',
    `a.b/${long(197)}`,
    '',
    5,
  ])('may not include the name %.40s [E-CARD-005]', (name) => {
    expect(() => build({ name })).toThrow('"name" must be')
  })

  it.each(['1.0.2', '2.1.0-alpha', '2026-11-28', '1.0.0-x.7', long(255)])(
    'may include the version %.40s [E-CARD-007] [E-CARD-009]',
    (version) => {
      expect(build({ version }).version).toBe(version)
    },
  )

  it.each(['', '^1.2.3', '~1.2.3', '>=1', '<2', '1.x', '1.*', '1 || 2', 'x', long(256), 5])(
    'may not include the version %.40s [E-CARD-007] [E-CARD-008] [E-CARD-009]',
    (version) => {
      expect(() => build({ version })).toThrow('"version" must be')
    },
  )

  it('include a description of 1 to 100 code points [E-CARD-011]', () => {
    for (const description of ['x', long(100), '🌦'.repeat(100), 'two\nlines']) {
      expect(build({ description }).description).toBe(description)
    }
    for (const description of ['', long(101), '🌦'.repeat(101), 5]) {
      expect(() => build({ description })).toThrow('"description" must be')
    }
    const server = createServer({ name: 'com.example/weather', version: '1.0.0' })
    expect(() => serverCard(server)).toThrow('"description" must be')
  })

  it('may include a title of 1 to 100 characters [E-CARD-012]', () => {
    expect(build({ title: undefined })).not.toHaveProperty('title', expect.anything())
    expect(build({ title: long(100) }).title).toHaveLength(100)
    for (const title of ['', long(101)]) expect(() => build({ title })).toThrow('"title" must be')
  })

  it('may include a URI of a website [E-CARD-013]', () => {
    expect(build({ websiteUrl: 'https://a.example' }).websiteUrl).toBe('https://a.example')
    for (const websiteUrl of ['a b', 'a.example', 5]) {
      expect(() => build({ websiteUrl })).toThrow('"websiteUrl" must be')
    }
  })

  it('may include a repository with a URL and a source [E-CARD-014] [E-CARD-015]', () => {
    const repository = { url: 'https://github.com/a/b', source: 'github' }
    const whole = { ...repository, subfolder: 'packages/x', id: '1' }
    expect(build({ repository: whole }).repository).toEqual(whole)
    const invalid = [
      { source: 'github' },
      { url: repository.url },
      ...['/x', '../x', 'a/../b'].map((subfolder) => ({ ...repository, subfolder })),
    ]
    for (const each of invalid) expect(() => build({ repository: each })).toThrow('"repository.')
  })

  it('may include icons [E-CARD-016]', () => {
    const icons = [{ src: 'data:image/png;base64,AA==', theme: 'dark', sizes: ['any'] }]
    expect(build({ icons }).icons).toEqual(icons)
    const src = 'https://a.example/i.png'
    for (const icon of [{}, { src, theme: 'blue' }, { src, sizes: '48x48' }]) {
      expect(() => build({ icons: [icon] })).toThrow('"icons[0].')
    }
  })

  it('may include metadata with prefixed keys that are not reserved [E-CARD-020]', () => {
    const _meta = { 'com.example/x': { any: 1 } }
    expect(build({ _meta })._meta).toEqual(_meta)
    for (const key of ['x', 'a b/c', 'io.modelcontextprotocol/x', 'com.mcp.tools/x']) {
      expect(() => build({ _meta: { [key]: 1 } })).toThrow(`"${key}" must not be a key of "_meta"`)
    }
    expect(() => build({ _meta: [] })).toThrow('"_meta" must be an object')
  })

  it('may include unknown members at any depth [E-CARD-021]', () => {
    const remotes = [{ type: 'sse', url: ENDPOINT, future: 1, headers: [{ name: 'a', future: 2 }] }]
    expect(build({ remotes }).remotes).toMatchObject(remotes)
  })
})

describe('An endpoint of a card', () => {
  it('is of Streamable HTTP or HTTP+SSE, and has a URL [E-CARD-027]', () => {
    expect(withRemote({ type: 'sse' })).not.toThrow()
    for (const remote of [{ type: 'stdio' }, { type: undefined }]) {
      expect(withRemote(remote)).toThrow('"remotes[0].type" must be')
    }
    expect(withRemote({ url: undefined })).toThrow('"remotes[0].url" must be')
  })

  it.each([
    ENDPOINT,
    'https://{tenant}.h.example/mcp',
    '{base}/mcp',
    'https://h.example:{port}/{a}',
  ])('may have the URL %s [E-CARD-028]', (url) => {
    expect(withRemote({ url })).not.toThrow()
  })

  it.each(['ftp://h.example', '/mcp', 'https://h.example /x', '{1a}/x', ''])(
    'may not have the URL %s [E-CARD-028]',
    (url) => {
      expect(withRemote({ url })).toThrow('"remotes[0].url" must be')
    },
  )

  it('may have headers with names and variables [E-CARD-029] [E-CARD-030]', () => {
    const headers = [{ name: 'X-Key', value: '{key}', variables: { key: { isSecret: true } } }]
    expect(withRemote({ headers, variables: { tenant: { default: 'a' } } })).not.toThrow()
    expect(withRemote({ headers: [{ value: 'x' }] })).toThrow('"remotes[0].headers[0].name" must')
    expect(withRemote({ variables: [] })).toThrow('"remotes[0].variables" must be an object')
    expect(withRemote({ variables: { a: 'x' } })).toThrow('"remotes[0].variables.a" must be')
  })

  it('may list protocol versions [E-CARD-031]', () => {
    expect(withRemote({ supportedProtocolVersions: ['2099-01-01'] })).not.toThrow()
    for (const versions of ['2026-07-28', [20260728]]) {
      expect(withRemote({ supportedProtocolVersions: versions })).toThrow(
        'supportedProtocolVersions',
      )
    }
  })

  it('has inputs with members of the right types, and unknown ones [E-CARD-033]', () => {
    const wrong = {
      ...{ description: 1, isRequired: 'yes', isSecret: 1, format: 'date', default: 1 },
      ...{ placeholder: 1, value: 1, choices: 'a' },
    }
    for (const [member, value] of Object.entries(wrong)) {
      const input = { [member]: value }
      expect(withRemote({ variables: { a: input } })).toThrow(`variables.a.${member}" must be`)
      expect(withRemote({ headers: [{ name: 'a', ...input }] })).toThrow(`[0].${member}" must be`)
    }
    expect(withRemote({ variables: { a: { future: 1, format: 'filepath' } } })).not.toThrow()
  })

  it('contains no secrets, credentials or private hosts [E-CARD-022]', () => {
    const secret = { isSecret: true, value: 'hunter2' }
    expect(withRemote({ headers: [{ name: 'X-Key', ...secret }] })).toThrow('"X-Key" is secret')
    expect(withRemote({ variables: { key: { isSecret: true, default: 'x' } } })).toThrow('"key" is')
    const nested = { name: 'a', value: '{key}', variables: { key: secret } }
    expect(withRemote({ headers: [nested] })).toThrow('"key" is secret')
    const template = { name: 'Authorization', isSecret: true, value: 'Bearer {key}' }
    expect(withRemote({ headers: [template] })).not.toThrow()
    const hosts = [
      'localhost',
      'intern',
      '10.0.0.1',
      '8.8.8.8',
      'db.internal',
      '[::1]',
      'u:p@h.example',
    ]
    for (const host of hosts) {
      expect(withRemote({ url: `https://${host}/mcp` })).toThrow('must be a public HTTPS URL')
    }
    expect(() => build({ remotes: ['https://intern/mcp'], development: true })).not.toThrow()
  })

  it('uses HTTPS outside of development [E-CARD-069]', () => {
    for (const url of ['http://h.example/mcp', 'http://{tenant}.h.example/mcp']) {
      expect(withRemote({ url })).toThrow(`"${url}" must be a public HTTPS URL`)
    }
    expect(() => build({ remotes: ['http://localhost:8000/mcp'] })).toThrow('public HTTPS URL')
    const card = build({ remotes: ['http://localhost:8000/mcp'], development: true })
    expect(card.remotes?.[0]?.url).toBe('http://localhost:8000/mcp')
  })

  it('lists all faults of a card at once', () => {
    expect(() => build({ name: 'x', version: '1.x', remotes: [{ type: 'stdio' }] })).toThrow(
      /"name" must .*; "version" must .*; "remotes\[0\].type" must .*; "remotes\[0\].url" must /,
    )
  })
})
