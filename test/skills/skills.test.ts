import { describe, expect, it } from 'vitest'
import type { SkillsOptions } from '../../src/skills/serve.ts'
import { SKILLS_EXTENSION } from '../../src/protocol/extension-ids.ts'
import type { Skill } from '../../src/skills/skill.ts'
import type { Client } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/index.ts'
import { createHandler, createServer, pagesOf, type Server } from '../../src/presets/server.ts'
import {
  getSkill,
  listAllSkills,
  loadSkill,
  readDirectory,
  skills,
} from '../../src/skills/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { lastMessage, postModern } from '../transport/streamable-http/post.ts'
import { connectTo, modernPeer, result, type HttpPeer } from '../client/peers.ts'

function skillFile(name: string, more = ''): string {
  return `---\nname: ${name}\ndescription: About ${name}\n${more}---\n\n# ${name}\n`
}

const PDF = {
  files: {
    'SKILL.md': skillFile('pdf', 'license: MIT\nmetadata:\n  version: 2.1.0\n  tags: [a, b]\n'),
    'references/FORMS.md': 'Forms\n',
    'templates/eu/invoice é.md': 'Rechnung\n',
    'logo.png': new Uint8Array([137, 80, 78, 71]),
  },
}

type Sources = Parameters<typeof skills>[0]

function serve(sources: Sources, options?: SkillsOptions): Server {
  const server = createServer({ name: 'skilled', version: '1' })
  server.extend(skills(sources, options))
  return server
}

const connected = (sources: Sources, options?: SkillsOptions): Promise<Client> =>
  connectInMemory(serve(sources, options))

describe('a server with skills', () => {
  it('declares the extension and resources', async () => {
    const client = await connected([PDF])
    expect(client.serverCapabilities).toMatchObject({
      resources: {},
      extensions: { [SKILLS_EXTENSION]: { directoryRead: true } },
    })
  })

  it('lists each with its whole frontmatter and every file, digested', async () => {
    const [skill, ...others] = await listAllSkills(await connected([PDF]))
    expect(others).toEqual([])
    expect(skill?.uri).toBe('skill://pdf/SKILL.md')
    expect(skill?.frontmatter).toEqual({
      name: 'pdf',
      description: 'About pdf',
      license: 'MIT',
      metadata: { version: '2.1.0', tags: ['a', 'b'] },
    })
    const files = skill?.resources === 'dynamic' ? [] : (skill?.resources ?? [])
    expect(files.map(({ uri, size }) => [uri, size])).toEqual([
      ['skill://pdf/SKILL.md', PDF.files['SKILL.md'].length],
      ['skill://pdf/references/FORMS.md', 6],
      ['skill://pdf/templates/eu/invoice%20%C3%A9.md', 9],
      ['skill://pdf/logo.png', 4],
    ])
    // From `printf 'Forms\n' | sha256sum`
    expect(files[1]?.digest).toBe(
      'sha256:a640426af9e81c8e420a45bb89bf1e98598867b3a25763f53e04286ae33988c6',
    )
  })

  it('answers clients that declare nothing, with hints for caches and no cursor', async () => {
    const handle = createHandler(serve([PDF], { cache: { ttlMs: 5000, cacheScope: 'public' } }))
    const list = await lastMessage(await postModern(handle, 'skills/list'))
    expect(list.result).toMatchObject({ resultType: 'complete', ttlMs: 5000, cacheScope: 'public' })
    const params = { uri: 'skill://pdf/SKILL.md' }
    const get = await lastMessage(await postModern(handle, 'skills/get', params))
    expect(get.result).toMatchObject({ resultType: 'complete', ttlMs: 5000, cacheScope: 'public' })
    expect(get.result.skill).toEqual((list.result.skills as unknown[])[0])
    expect(get.result).not.toHaveProperty('nextCursor')
  })

  it('lists its skills in pages', async () => {
    const sources = ['a', 'b', 'c'].map((name) => ({ files: { 'SKILL.md': skillFile(name) } }))
    const handle = createHandler(serve(sources, { pages: pagesOf(2) }))
    const { result: first } = await lastMessage(await postModern(handle, 'skills/list'))
    expect(first.skills).toHaveLength(2)
    const cursor = { cursor: first.nextCursor }
    const { result: last } = await lastMessage(await postModern(handle, 'skills/list', cursor))
    expect(last.skills).toHaveLength(1)
    expect(last).not.toHaveProperty('nextCursor')
    const bad = await lastMessage(await postModern(handle, 'skills/list', { cursor: 'x' }))
    expect(bad.error.code).toBe(-32602)
    expect(await listAllSkills(await connected(sources, { pages: pagesOf(1) }))).toHaveLength(3)
  })

  it('has every file as a resource', async () => {
    const client = await connected([PDF])
    const resources = await client.listAllResources()
    expect(resources.map(({ name, mimeType }) => [name, mimeType])).toEqual([
      ['pdf', 'text/markdown'],
      ['FORMS.md', 'text/markdown'],
      ['invoice é.md', 'text/markdown'],
      ['logo.png', 'image/png'],
    ])
    expect(resources[0]?.description).toBe('About pdf')
    const read = await client.readResource('skill://pdf/logo.png')
    expect(read.contents).toEqual([
      { uri: 'skill://pdf/logo.png', mimeType: 'image/png', blob: 'iVBORw==' },
    ])
  })

  it('counts the files of a skill inside another among those of both', async () => {
    const outer = { files: { 'SKILL.md': skillFile('outer') } }
    const inner = { prefix: 'outer', files: { 'SKILL.md': skillFile('inner'), 'x.txt': 'x' } }
    const listed = await listAllSkills(await connected([outer, inner]))
    const uris = listed.map(({ resources }) =>
      resources === 'dynamic' ? [] : resources.map(({ uri }) => uri),
    )
    const inside = ['skill://outer/inner/SKILL.md', 'skill://outer/inner/x.txt']
    expect(uris).toEqual([['skill://outer/SKILL.md', ...inside], inside])
  })

  it('gets a skill that it does not list', async () => {
    const client = await connected([{ ...PDF, listed: false }])
    expect(await listAllSkills(client)).toEqual([])
    expect(await getSkill(client, 'skill://pdf/SKILL.md')).toMatchObject({
      frontmatter: { name: 'pdf' },
    })
  })

  it.each(['skill://none/SKILL.md', 'skill://pdf', 'skill://pdf/logo.png', ''])(
    'answers with -32602 for the skill "%s", which does not exist',
    async (uri) => {
      await expect(getSkill(await connected([PDF]), uri)).rejects.toMatchObject({ code: -32602 })
    },
  )

  it('reads directories, with their files and folders', async () => {
    const client = await connected([PDF], { pages: pagesOf(2) })
    const root = await readDirectory(client, 'skill://pdf')
    expect(root.map(({ uri, name, mimeType }) => [uri, name, mimeType])).toEqual([
      ['skill://pdf/SKILL.md', 'pdf', 'text/markdown'],
      ['skill://pdf/references', 'references', 'inode/directory'],
      ['skill://pdf/templates', 'templates', 'inode/directory'],
      ['skill://pdf/logo.png', 'logo.png', 'image/png'],
    ])
    const inside = await readDirectory(client, 'skill://pdf/templates/eu')
    expect(inside.map(({ name }) => name)).toEqual(['invoice é.md'])
  })

  it.each(['skill://pdf/SKILL.md', 'skill://pdf/', 'skill://pd', 'skill://none', 'skill:'])(
    'answers with -32602 for the directory "%s", which does not exist',
    async (uri) => {
      const reading = readDirectory(await connected([PDF]), uri)
      await expect(reading).rejects.toMatchObject({ code: -32602 })
    },
  )

  it('shows a skill only to callers who may see it', async () => {
    const mine = {
      ...PDF,
      visible: ({ principal }: { principal?: string | undefined }) => principal === 'me',
    }
    const client = await connected([mine, { files: { 'SKILL.md': skillFile('open') } }])
    expect((await listAllSkills(client)).map(({ uri }) => uri)).toEqual(['skill://open/SKILL.md'])
    await expect(getSkill(client, 'skill://pdf/SKILL.md')).rejects.toMatchObject({ code: -32602 })
    await expect(readDirectory(client, 'skill://pdf')).rejects.toMatchObject({ code: -32602 })
    await expect(client.readResource('skill://pdf/SKILL.md')).rejects.toMatchObject({
      code: -32602,
    })
    const handle = createHandler(serve([mine], { cache: { cacheScope: 'public' } }))
    const { result: list } = await lastMessage(await postModern(handle, 'skills/list'))
    expect(list).toMatchObject({ skills: [], cacheScope: 'private' })
  })

  it('makes files on request for a dynamic skill, which nothing vouches for', async () => {
    const frontmatter = { name: 'daily', description: 'About daily' }
    const texts: Record<string, string> = { 'SKILL.md': skillFile('daily'), 'data/a.txt': 'A' }
    const client = await connected([
      { prefix: 'live', frontmatter, paths: () => Object.keys(texts), read: (path) => texts[path] },
    ])
    const [skill] = await listAllSkills(client)
    expect(skill).toEqual({
      uri: 'skill://live/daily/SKILL.md',
      frontmatter,
      resources: 'dynamic',
    })
    const children = await readDirectory(client, 'skill://live/daily')
    expect(children.map(({ name }) => name)).toEqual(['daily', 'data'])
    const loaded = await loadSkill(client, skill as Skill)
    expect((await loaded.read('data/a.txt')).text).toBe('A')
    await expect(loaded.read('none.txt')).rejects.toMatchObject({ code: -32602 })
  })

  it.each<[string, Sources]>([
    ['no skill exists', []],
    ['there is no SKILL.md', [{ files: { 'a.md': skillFile('a') } }]],
    ['there is no frontmatter', [{ files: { 'SKILL.md': '# Hello' } }]],
    ['there is no description', [{ files: { 'SKILL.md': '---\nname: a\n---\n' } }]],
    ['the frontmatter is broken', [{ files: { 'SKILL.md': '---\nname: [a\n---\n' } }]],
    ['the name has capitals', [{ files: { 'SKILL.md': skillFile('Big') } }]],
    ['the name has two hyphens', [{ files: { 'SKILL.md': skillFile('a--b') } }]],
    ['a path climbs', [{ files: { 'SKILL.md': skillFile('a'), '../b': '' } }]],
    ['a prefix climbs', [{ prefix: '..', files: { 'SKILL.md': skillFile('a') } }]],
    ['two are in one place', [PDF, PDF]],
    [
      'metadata is reserved',
      [{ files: { 'SKILL.md': skillFile('a', 'metadata:\n  io.modelcontextprotocol/x: 1\n') } }],
    ],
    [
      'there are too many files',
      [
        {
          files: Object.fromEntries([
            ['SKILL.md', skillFile('a')],
            ...Array.from({ length: 512 }, (_, n) => [`${n}.md`, '']),
          ]) as Record<string, string>,
        },
      ],
    ],
    [
      'there are too many bytes',
      [{ files: { 'SKILL.md': skillFile('a'), big: new Uint8Array(16 * 1024 * 1024) } }],
    ],
  ])('is refused when %s', (_why, sources) => {
    expect(() => skills(sources)).toThrow(TypeError)
  })
})

describe('a client of a server with skills', () => {
  it('reads no file before a skill is loaded, and each file once', async () => {
    const reads: string[] = []
    const server = serve([PDF])
    server.use('resources/read', (request, _ctx, next) => {
      reads.push(String(request.params.uri))
      return next()
    })
    const client = await connectInMemory(server)
    const [skill] = await listAllSkills(client)
    await getSkill(client, 'skill://pdf/SKILL.md')
    expect(reads).toEqual([])
    const loaded = await loadSkill(client, skill as Skill)
    expect(loaded.text).toBe(PDF.files['SKILL.md'])
    for (const reference of [
      'references/FORMS.md',
      './references/../references/FORMS.md',
      'skill://pdf/references/FORMS.md',
    ]) {
      expect((await loaded.read(reference)).text).toBe('Forms\n')
    }
    expect((await loaded.read('templates/eu/invoice é.md')).text).toBe('Rechnung\n')
    expect((await loaded.read('logo.png')).bytes).toEqual(PDF.files['logo.png'])
    expect(reads).toHaveLength(4)
  })

  it.each(['other.md', '../open/SKILL.md', 'skill://open/SKILL.md', 'https://example.com/x'])(
    'reads nothing that the entry does not name: %s',
    async (reference) => {
      const client = await connected([PDF, { files: { 'SKILL.md': skillFile('open') } }])
      const loaded = await loadSkill(client, await getSkill(client, 'skill://pdf/SKILL.md'))
      await expect(loaded.read(reference)).rejects.toThrow('the entry does not list it')
    },
  )

  it('does not ask servers that do not declare the extension', async () => {
    const peer = modernPeer((request) => result(request, {}))
    const client = await connectTo(peer)
    await expect(listAllSkills(client)).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    await expect(getSkill(client, 'x')).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    await expect(readDirectory(client, 'x')).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    expect(peer.requests).toHaveLength(1)
  })

  it('reads directories only where the server says that it can', async () => {
    const peer = modernPeer((request) => result(request, {}), {
      extensions: { [SKILLS_EXTENSION]: {} },
    })
    const reading = readDirectory(await connectTo(peer), 'skill://a')
    await expect(reading).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    expect(peer.requests).toHaveLength(1)
  })
})

describe('a skill that does not match its entry', () => {
  const text = skillFile('a')
  const genuine = { uri: 'skill://a/SKILL.md', frontmatter: { name: 'a', description: 'About a' } }

  async function entryOf(content: string, size = content.length): Promise<JsonObject> {
    const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(content))
    const hex = Buffer.from(bytes).toString('hex')
    return { ...genuine, resources: [{ uri: genuine.uri, digest: `sha256:${hex}`, size }] }
  }

  function peerOf(entry: JsonObject, content: JsonObject = { uri: genuine.uri, text }): HttpPeer {
    return modernPeer(
      (request) =>
        request.message.method === 'skills/list'
          ? result(request, { resultType: 'complete', skills: [entry] })
          : result(request, { resultType: 'complete', contents: [content] }),
      { resources: {}, extensions: { [SKILLS_EXTENSION]: {} } },
    )
  }

  async function load(peer: HttpPeer): Promise<unknown> {
    const client = await connectTo(peer)
    const [skill] = await listAllSkills(client)
    return loadSkill(client, skill as Skill)
  }

  it('is not loaded when its bytes differ in number or value, or its frontmatter does', async () => {
    await expect(load(peerOf(await entryOf(text)))).resolves.toMatchObject({ text })
    const longer = peerOf(await entryOf(text, text.length - 1))
    await expect(load(longer)).rejects.toThrow('its size differs')
    const other = peerOf(await entryOf(text.replace('About', 'Above')))
    await expect(load(other)).rejects.toThrow('its digest differs')
    const frontmatter = { ...genuine.frontmatter, license: 'MIT' }
    const entry = peerOf({ ...(await entryOf(text)), frontmatter })
    await expect(load(entry)).rejects.toThrow('its frontmatter differs')
    const dynamic = peerOf({ ...genuine, frontmatter, resources: 'dynamic' })
    await expect(load(dynamic)).rejects.toThrow('its frontmatter differs')
  })

  it.each([{}, { text: 1 }, { blob: '%' }])(
    'is not loaded when it has no content: %j',
    async (content) => {
      await expect(load(peerOf(await entryOf(text), content))).rejects.toThrow('it has no content')
    },
  )

  it('is not loaded from contents of another URI, nor of none [P032]', async () => {
    for (const content of [{ uri: 'skill://b/SKILL.md', text }, { text }]) {
      await expect(load(peerOf(await entryOf(text), content))).rejects.toThrow('it has no content')
    }
  })

  it.each<[string, JsonObject]>([
    ['no resources', { resources: undefined }],
    ['other resources', { resources: 'static' }],
    ['no SKILL.md among them', { resources: [] }],
    [
      'files outside',
      {
        resources: [
          { uri: genuine.uri, digest: `sha256:${'0'.repeat(64)}`, size: 1 },
          { uri: 'skill://b/x', digest: `sha256:${'0'.repeat(64)}`, size: 1 },
        ],
      },
    ],
    ['another digest', { resources: [{ uri: genuine.uri, digest: 'md5:0', size: 1 }] }],
    ['no size', { resources: [{ uri: genuine.uri, digest: `sha256:${'0'.repeat(64)}` }] }],
    ['another name', { frontmatter: { name: 'b', description: '' } }],
    ['no frontmatter', { frontmatter: null }],
    ['no URI', { uri: 1 }],
  ])('is invalid when its entry has %s', async (_what, change) => {
    const peer = peerOf({ ...(await entryOf(text)), ...change })
    await expect(load(peer)).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
  })

  it('is bounded in what its frontmatter unfolds to', async () => {
    const bomb = Array.from({ length: 30 }, (_, n) => `x${n + 1}: &x${n + 1} [*x${n}, *x${n}]`)
    const file = skillFile('a', `x0: &x0 [1]\n${bomb.join('\n')}\n`)
    const peer = peerOf(await entryOf(file), { uri: genuine.uri, text: file })
    await expect(load(peer)).rejects.toThrow('its frontmatter differs')
  })
})

describe('the discovery of skills', () => {
  it('works in sessions', async () => {
    const client = await connectInMemory(serve([PDF]), { revision: '2025-11-25' })
    expect(await listAllSkills(client)).toHaveLength(1)
  })

  it('is repeated for a list that continues forever, but not forever', async () => {
    const peer = modernPeer(
      (request) => result(request, { resultType: 'complete', skills: [], nextCursor: 'same' }),
      { extensions: { [SKILLS_EXTENSION]: {} } },
    )
    const listing = listAllSkills(await connectTo(peer))
    await expect(listing).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
  })
})
