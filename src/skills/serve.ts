/**
 * Serves skills: `skills/list`, `skills/get`, `resources/directory/read`, and their files as
 * resources.
 *
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */
import { INVALID_PARAMS, ProtocolError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { CacheHints, Resource, Result } from '../protocol/types.ts'
import { requireHints } from '../server/caching.ts'
import type { Context, RequestContext } from '../server/context.ts'
import type { Extension } from '../server/extension.ts'
import { paginate } from '../server/pagination.ts'
import { requireString } from '../server/params.ts'
import type { Server } from '../server/definition.ts'
import {
  encodePath,
  entryOf,
  filesOf,
  frontmatterOf,
  mimeTypeOf,
  skillUri,
  type SkillFile,
  type SkillPlace,
  type StaticSkill,
} from './folder.ts'
import { DIRECTORY, rootOf, SKILL_FILE, SKILLS, type Frontmatter, type Skill } from './skill.ts'

export type { StaticSkill } from './folder.ts'

/** A skill whose files are made on request. Hosts cannot verify them, and may decline to load them. */
export interface DynamicSkill extends SkillPlace {
  /** What the `SKILL.md` that is read will have in front: the same, field by field. */
  frontmatter: Frontmatter
  /** The paths of its files, `SKILL.md` among them. */
  paths(ctx: Context): readonly string[] | Promise<readonly string[]>
  /** The content of a file; nothing when there is none at that path. */
  read(
    path: string,
    ctx: Context,
  ): string | Uint8Array | undefined | Promise<string | Uint8Array | undefined>
}

/** How skills are served. */
export interface SkillsOptions {
  /** The most skills, or files of a directory, in one page; without it all are on one. */
  pageSize?: number
  /** For how long clients may keep entries and files; the server's hints by default. */
  cache?: CacheHints
}

interface Served {
  readonly uri: string
  readonly place: SkillPlace
  readonly entry: () => Promise<Skill>
}

/**
 * The extension that serves skills, for `extend`. Every file can be read as a resource; the digests
 * are computed once, when they are first asked for.
 *
 * @throws {TypeError} when there is none, or one is malformed: no `SKILL.md`, a name or path that cannot be, more
 *   files or bytes than hosts have to take, or two files in one place.
 */
export function skills(
  sources: readonly (StaticSkill | DynamicSkill)[],
  options: SkillsOptions = {},
): Extension {
  const { pageSize } = options
  if (sources.length === 0) throw new TypeError('Skills are needed to serve any')
  const cache = requireHints(options.cache) ?? {}
  const files = new Map<string, SkillFile>()
  const folders = sources.filter((source) => 'files' in source)
  for (const source of folders) {
    const frontmatter = frontmatterOf(source)
    for (const file of filesOf(skillUri(frontmatter, source), source, frontmatter)) {
      if (files.has(file.uri)) throw new TypeError(`"${file.uri}" exists already`)
      files.set(file.uri, file)
    }
  }
  const served = sources.map((source): Served => {
    const frontmatter = 'files' in source ? frontmatterOf(source) : source.frontmatter
    const uri = skillUri(frontmatter, source)
    if ('files' in source) {
      return { uri, place: source, entry: entryOf(uri, frontmatter, files.values()) }
    }
    if (files.has(uri)) throw new TypeError(`"${uri}" exists already`)
    return { uri, place: source, entry: async () => ({ uri, frontmatter, resources: 'dynamic' }) }
  })

  async function list({ cursor }: JsonObject, ctx: Context): Promise<Result> {
    const listed = served.filter(({ place }) => place.listed !== false && isVisible(place, ctx))
    const { page, nextCursor } = paginate(listed, cursor, pageSize, 'skills')
    const entries = await Promise.all(page.map(({ entry }) => entry()))
    const restricted = served.some(({ place }) => place.visible)
    return {
      ...cache,
      ...(restricted && { cacheScope: 'private' }),
      skills: entries,
      ...(nextCursor !== undefined && { nextCursor }),
    }
  }

  async function get(params: JsonObject, ctx: Context): Promise<Result> {
    const uri = requireString(params, 'uri')
    const found = served.find((each) => each.uri === uri && isVisible(each.place, ctx))
    if (!found) throw new ProtocolError(INVALID_PARAMS, `There is no skill at "${uri}"`, { uri })
    return {
      ...cache,
      ...(found.place.visible && { cacheScope: 'private' }),
      skill: await found.entry(),
    }
  }

  async function readDirectory(params: JsonObject, ctx: Context): Promise<Result> {
    const uri = requireString(params, 'uri')
    const readable = [...files.values()].filter((file) => isVisible(file, ctx)).map(describe)
    for (const source of sources) {
      if ('files' in source || !isVisible(source, ctx)) continue
      const root = rootOf(skillUri(source.frontmatter, source))
      if (!`${uri}/`.startsWith(root) && !root.startsWith(`${uri}/`)) continue
      for (const path of await source.paths(ctx)) {
        const name = path === SKILL_FILE ? source.frontmatter.name : path
        readable.push({
          uri: root + encodePath(path),
          name: name.slice(name.lastIndexOf('/') + 1),
          mimeType: mimeTypeOf(path),
        })
      }
    }
    const children = childrenOf(uri, readable)
    if (children.length === 0) {
      throw new ProtocolError(INVALID_PARAMS, `"${uri}" is no directory`, { uri })
    }
    const { page, nextCursor } = paginate(children, params.cursor, pageSize, uri)
    return { resources: page, ...(nextCursor !== undefined && { nextCursor }) }
  }

  return {
    id: SKILLS,
    oneSided: true,
    settings: { directoryRead: true },
    methods: {
      'skills/list': { cacheable: true, handle: list },
      'skills/get': { cacheable: true, handle: get },
      'resources/directory/read': { handle: readDirectory },
    },
    attach(server) {
      for (const file of files.values()) registerFile(server, file, cache)
      for (const source of sources) if (!('files' in source)) registerFamily(server, source, cache)
    },
  }
}

function isVisible({ visible }: { visible?: SkillPlace['visible'] | undefined }, ctx: Context) {
  return visible?.((ctx as RequestContext).caller) ?? true
}

/** How lists describe a file. */
function describe({ uri, name, description, mimeType, bytes }: SkillFile): Resource {
  return {
    uri,
    name,
    ...(description !== undefined && { description }),
    mimeType,
    size: bytes.length,
  }
}

function registerFile(server: Server, file: SkillFile, cache: CacheHints): void {
  const { uri, visible, content } = file
  const { uri: _, ...described } = describe(file)
  server.resource(uri, { ...described, cache, ...(visible && { visible }) }, () => content)
}

function registerFamily(server: Server, source: DynamicSkill, cache: CacheHints): void {
  const { frontmatter, visible, read } = source
  const uri = skillUri(frontmatter, source)
  const { name, description } = frontmatter
  const options = { cache, ...(visible && { visible }) }
  server.resource(uri, { name, description, mimeType: 'text/markdown', ...options }, (_, ctx) =>
    read(SKILL_FILE, ctx),
  )
  server.resourceTemplate(`${rootOf(uri)}{+path}`, { name, ...options }, async (request, ctx) => {
    const path = String(request.variables.path)
    const content = await read(path, ctx)
    if (content === undefined) return undefined
    const mimeType = mimeTypeOf(path, content)
    return typeof content === 'string'
      ? { contents: [{ uri: request.uri, mimeType, text: content }] }
      : content
  })
}

/** What is directly inside a directory. */
function childrenOf(uri: string, files: readonly Resource[]): Resource[] {
  const children = new Map<string, Resource>()
  for (const file of files) {
    if (!/^skill:\/\/[^/]/.test(uri) || !file.uri.startsWith(`${uri}/`)) continue
    const [name = '', inside] = file.uri.slice(uri.length + 1).split('/', 2)
    const child = `${uri}/${name}`
    if (inside === undefined) children.set(child, file)
    else children.set(child, { uri: child, name: decodeURIComponent(name), mimeType: DIRECTORY })
  }
  return [...children.values()]
}
