import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { fromRegistryEntry, requireRegistryEntry, toRegistryEntry } from '../../src/cards/index.ts'
import type { RegistryEntry } from '../../src/cards/registry.ts'
import { CARD_SCHEMA, type ServerCard } from '../../src/cards/types.ts'
import { cardOf } from './site.ts'

const PUBLISHED = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'
const file = new URL('fixtures/server.schema.json', import.meta.url)

/** The registry's published schema, without its descriptions and examples. */
const schema = JSON.parse(readFileSync(file, 'utf8')) as object
const ajv = new Ajv({ strict: false })
formats.default(ajv)
const validate = ajv.compile(schema)

const remote = { type: 'streamable-http' as const, url: 'https://weather.example.com/mcp' }
const PACKAGE = {
  registryType: 'npm',
  identifier: 'weather',
  version: '1.2.3',
  transport: { type: 'stdio' },
}

/** A valid entry with other members. */
function entryWith(members: object): RegistryEntry {
  const { $schema: _, ...card } = cardOf()
  return { $schema: PUBLISHED, ...card, ...members }
}

const withPackage = (members: object): object => ({ packages: [{ ...PACKAGE, ...members }] })
const withIcon = (members: object): object => ({
  icons: [{ src: 'https://a.example/i.png', ...members }],
})
const withArgument = (argument: object): object => withPackage({ packageArguments: [argument] })

const VALID: readonly object[] = [
  {},
  { $schema: undefined, title: 'x', websiteUrl: 'https://a.example', remotes: [] },
  { name: `a/${'x'.repeat(198)}`, description: 'x'.repeat(100), version: 'x'.repeat(255) },
  { repository: { url: 'https://github.com/a/b', source: 'github', subfolder: 'x' } },
  { remotes: [{ ...remote, url: 'https://{a}.example', variables: { a: { isRequired: true } } }] },
  { remotes: [{ type: 'sse', url: 'http://a', headers: [{ name: 'X', variables: { b: {} } }] }] },
  withIcon({ mimeType: 'image/svg+xml', sizes: ['48x48', 'any'], theme: 'dark' }),
  withPackage({}),
  withPackage({
    fileSha256: 'a'.repeat(64),
    runtimeHint: 'npx',
    registryBaseUrl: 'https://r.example',
  }),
  withPackage({ transport: { type: 'streamable-http', url: 'http://localhost:{port}/mcp' } }),
  withPackage({ environmentVariables: [{ name: 'KEY', isSecret: true, format: 'string' }] }),
  withArgument({ type: 'named', name: '--port', isRepeated: true, default: '1' }),
  withArgument({ type: 'positional', valueHint: 'path' }),
  withArgument({ type: 'positional', value: 'x', variables: { y: { choices: ['z'] } } }),
  { _meta: { 'io.modelcontextprotocol.registry/publisher-provided': { a: 1 } } },
]

const INVALID: readonly object[] = [
  ...['name', 'description', 'version'].map((name) => ({ [name]: undefined })),
  ...['a', 'a/', 'a/b/c', `a/${'x'.repeat(199)}`].map((name) => ({ name })),
  ...['', 'x'.repeat(101)].flatMap((text) => [{ description: text }, { title: text }]),
  ...['x'.repeat(256), 5].map((version) => ({ version })),
  ...[{ url: 'x', source: 'y' }, { url: 'https://a.example' }].map((repository) => ({
    repository,
  })),
  { websiteUrl: 'a b' },
  { $schema: 'x' },
  { remotes: {} },
  ...['{a}/mcp', 'ftp://a', 'https://a b'].map((url) => ({ remotes: [{ ...remote, url }] })),
  { remotes: [{ ...remote, type: 'stdio' }] },
  { remotes: [{ ...remote, headers: [{ value: 'x' }] }] },
  { remotes: [{ ...remote, variables: { a: { format: 'date' } } }] },
  withIcon({ mimeType: 'image/gif' }),
  withIcon({ sizes: ['48'] }),
  withIcon({ theme: 'blue' }),
  withIcon({ src: `https://a.example/${'x'.repeat(240)}` }),
  { packages: {} },
  ...['registryType', 'identifier', 'transport'].map((name) => withPackage({ [name]: undefined })),
  ...['latest', ''].map((version) => withPackage({ version })),
  withPackage({ fileSha256: 'A'.repeat(64) }),
  withPackage({ registryBaseUrl: 'x' }),
  withPackage({ transport: { type: 'carrier-pigeon' } }),
  withPackage({ transport: { type: 'sse' } }),
  withPackage({ transport: { type: 'sse', url: '{a}' } }),
  withPackage({ environmentVariables: [{ value: 'x' }] }),
  withArgument({ type: 'positional' }),
  withArgument({ type: 'named' }),
  withArgument({ type: 'other', name: 'x' }),
  withArgument({ type: 'named', name: 'x', isRepeated: 'yes' }),
  { _meta: { 'io.modelcontextprotocol.registry/publisher-provided': 5 } },
]

describe('An entry of the registry', () => {
  it.each(VALID)(
    'is valid by the published schema and by ours: %j [E-CARD-136] [E-CARD-141]',
    (members) => {
      const entry = JSON.parse(JSON.stringify(entryWith(members))) as RegistryEntry
      expect(validate(entry)).toBe(true)
      expect(requireRegistryEntry(entry)).toEqual(entry)
    },
  )

  it.each(INVALID)(
    'is invalid by the published schema and by ours: %.120j [E-CARD-136] [E-CARD-140] [E-CARD-141]',
    (members) => {
      const entry: unknown = JSON.parse(JSON.stringify(entryWith(members)))
      expect(validate(entry)).toBe(false)
      expect(() => requireRegistryEntry(entry)).toThrow('The entry of the registry is invalid')
    },
  )

  it('has icons over HTTPS and no range as its version, as the schema says in words [E-CARD-140]', () => {
    for (const members of [withIcon({ src: 'http://a.example/i.png' }), { version: '1.x' }]) {
      expect(() => requireRegistryEntry(entryWith(members))).toThrow('is invalid')
    }
    for (const value of [null, [], 'x']) expect(() => requireRegistryEntry(value)).toThrow()
  })
})

describe('A card and an entry of the registry', () => {
  it('are converted into each other [E-CARD-137]', () => {
    const { entry, dropped } = toRegistryEntry(cardOf())
    expect([entry, dropped]).toEqual([entryWith({}), []])
    expect(validate(entry)).toBe(true)
    expect(fromRegistryEntry(entry)).toEqual(cardOf())
    const { entry: withPackages } = toRegistryEntry(cardOf(), [PACKAGE])
    expect(withPackages.packages).toEqual([PACKAGE])
    expect(() => toRegistryEntry(cardOf(), [{}])).toThrow('"packages[0].registryType" must be')
  })

  it('differ in packages and the registry’s metadata, which a card lacks [E-CARD-025] [E-CARD-138]', () => {
    const _meta = { 'io.modelcontextprotocol.registry/publisher-provided': { a: 1 }, 'a.b/c': 1 }
    const entry = entryWith({ packages: [PACKAGE, PACKAGE], _meta })
    expect(fromRegistryEntry(entry)).toEqual({ ...cardOf(), _meta: { 'a.b/c': 1 } })
    expect(fromRegistryEntry(entryWith({ $schema: undefined })).$schema).toBe(CARD_SCHEMA)
    const only = entryWith({ packages: [PACKAGE], remotes: undefined })
    expect(() => fromRegistryEntry(only)).toThrow('has no remote: it can only be installed')
  })

  it('differ in what the registry does not support, which is reported [E-CARD-139]', () => {
    const remotes: ServerCard['remotes'] = [
      { ...remote, supportedProtocolVersions: ['2026-07-28'] },
      { type: 'streamable-http', url: '{base}/mcp' },
    ]
    const icons = [{ src: 'data:image/png;base64,AA==' }, { src: 'https://a.example/i.png' }]
    const card = cardOf('weather', { remotes, icons, _meta: { 'a.b/c': 1 } })
    const { entry, dropped } = toRegistryEntry(card)
    expect(entry.remotes).toEqual([remote])
    expect(entry.icons).toEqual([icons[1]])
    expect(entry).not.toHaveProperty('_meta')
    expect(dropped).toEqual([
      '_meta',
      'icons[0]',
      'remotes[0].supportedProtocolVersions',
      'remotes[1]',
    ])
    expect(validate(entry)).toBe(true)
  })
})
