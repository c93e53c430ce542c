/**
 * Serves skills: `skills/list`, `skills/get`, `resources/directory/read`, and the files as
 * resources.
 *
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */
import { SKILLS_EXTENSION } from '../protocol/extension-ids.ts'
import { ProtocolError } from '../protocol/errors.ts'
import { INVALID_PARAMS } from '../protocol/error-codes.ts'
import type { CacheHints, Resource, Result, JsonObject } from '../protocol/types.ts'
import { requireHints } from '../server/features/caching.ts'
import type { Context } from '../server/request/context.ts'
import { addExtension } from '../server/composition/extend.ts'
import type { ServerExtensionOptions } from '../server/composition/server-extension.ts'
import { onePage, type Paginate } from '../server/features/pagination.ts'
import { uriTemplate } from '../server/features/uri-template.ts'
import { requireString } from '../server/request/params.ts'
import { isVisible } from '../server/registry.ts'
import type { Server, ServerExtension } from '../server/server.ts'
import {
  encodePath,
  createEntryReader,
  filesOf,
  frontmatterOf,
  mimeTypeOf,
  skillUri,
  type SkillFile,
  type BaseSkill,
  type StaticSkill,
} from './folder.ts'
import { DIRECTORY_TYPE, rootOf, SKILL_FILE, type Frontmatter, type Skill } from './skill.ts'

/**
 * A skill whose files are generated on request. Hosts cannot verify such files, and may refuse to
 * load them.
 */
export interface DynamicSkill extends BaseSkill {
  /** The frontmatter, which must equal the frontmatter of the generated `SKILL.md`, field by field. */
  frontmatter: Frontmatter
  /** The paths of the skill's files, including `SKILL.md`. */
  paths(ctx: Context): readonly string[] | Promise<readonly string[]>
  /** The content of a file; `undefined` if there is no file at that path. */
  read(
    path: string,
    ctx: Context,
  ): string | Uint8Array | undefined | Promise<string | Uint8Array | undefined>
}

/** How skills are served. */
export interface SkillsOptions {
  /** Paginates lists of skills and of files, like the server's option `pages`. */
  pages?: Paginate
  /** How long clients may cache entries and files. By default the server's hints apply. */
  cache?: CacheHints
}

interface ServedSkill {
  /** The URI of the skill's `SKILL.md`. */
  readonly uri: string
  readonly source: BaseSkill
  readonly entry: () => Promise<Skill>
}

/**
 * Creates the extension that serves skills, for `server.extend`. Every file can be read as a
 * resource. Digests are computed once, when they are first needed.
 *
 * @example
 * ```ts
 * import { createServer } from 'edgewise/server'
 * import { skills } from 'edgewise/skills'
 *
 * const server = createServer({ name: 'house', version: '1.0.0' })
 * server.extend(
 *   skills([
 *     {
 *       files: {
 *         'SKILL.md': '---\nname: letters\ndescription: Writes letters in our style\n---\n\nBe brief.\n',
 *       },
 *     },
 *   ]),
 * )
 * ```
 *
 * @throws {TypeError} If `sources` is empty; if a skill has no `SKILL.md`, an invalid name or path, or
 *   more files or bytes than every host accepts; if two files have the same URI.
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */
export function skills(
  sources: readonly (StaticSkill | DynamicSkill)[],
  options: SkillsOptions = {},
): ServerExtension {
  return new SkillsExtension(sources, options)
}

class SkillsExtension implements ServerExtension {
  readonly #methods: NonNullable<ServerExtensionOptions['methods']> = {
    'skills/list': { cacheable: true, handle: (params, ctx) => this.#list(params, ctx) },
    'skills/get': { cacheable: true, handle: (params, ctx) => this.#get(params, ctx) },
    'resources/directory/read': { handle: (params, ctx) => this.#readDirectory(params, ctx) },
  }
  readonly #cache: CacheHints
  readonly #pages: Paginate
  /** The static files, by URI. */
  readonly #files = new Map<string, SkillFile>()
  readonly #dynamic: readonly DynamicSkill[]
  readonly #served: readonly ServedSkill[]

  constructor(sources: readonly (StaticSkill | DynamicSkill)[], options: SkillsOptions) {
    if (sources.length === 0) throw new TypeError('At least one skill is required')
    this.#cache = requireHints(options.cache) ?? {}
    this.#pages = options.pages ?? onePage
    this.#dynamic = sources.filter((source): source is DynamicSkill => !('files' in source))
    for (const source of sources) {
      if ('files' in source) this.#addFiles(source)
    }
    this.#served = sources.map((source) =>
      'files' in source ? this.#serveStatic(source) : this.#serveDynamic(source),
    )
  }

  addTo(server: Server): void {
    const settings = { directoryRead: true }
    addExtension(server, {
      id: SKILLS_EXTENSION,
      serverOnly: true,
      settings,
      methods: this.#methods,
    })
    for (const file of this.#files.values()) registerFile(server, file, this.#cache)
    for (const source of this.#dynamic) registerDynamic(server, source, this.#cache)
  }

  #addFiles(source: StaticSkill): void {
    const frontmatter = frontmatterOf(source)
    for (const file of filesOf(skillUri(frontmatter, source), source, frontmatter)) {
      if (this.#files.has(file.uri)) throw new TypeError(`"${file.uri}" exists already`)
      this.#files.set(file.uri, file)
    }
  }

  #serveStatic(source: StaticSkill): ServedSkill {
    const frontmatter = frontmatterOf(source)
    const uri = skillUri(frontmatter, source)
    return {
      uri,
      source,
      entry: createEntryReader(uri, frontmatter, this.#files.values()),
    }
  }

  #serveDynamic(source: DynamicSkill): ServedSkill {
    const { frontmatter } = source
    const uri = skillUri(frontmatter, source)
    if (this.#files.has(uri)) throw new TypeError(`"${uri}" exists already`)
    const entry: Skill = { uri, frontmatter, resources: 'dynamic' }
    return { uri, source, entry: () => Promise.resolve(entry) }
  }

  async #list({ cursor }: JsonObject, ctx: Context): Promise<Result> {
    const listed = this.#served.filter(
      ({ source }) => source.listed !== false && isVisible(source, ctx),
    )
    const { page, nextCursor } = this.#pages(listed, cursor, 'skills')
    const entries = await Promise.all(page.map(({ entry }) => entry()))
    const isRestricted = this.#served.some(({ source }) => source.visible)
    return {
      ...this.#cache,
      ...(isRestricted && { cacheScope: 'private' }),
      skills: entries,
      ...(nextCursor !== undefined && { nextCursor }),
    }
  }

  async #get(params: JsonObject, ctx: Context): Promise<Result> {
    const uri = requireString(params, 'uri')
    const served = this.#served.find((skill) => skill.uri === uri && isVisible(skill.source, ctx))
    if (!served) throw new ProtocolError(INVALID_PARAMS, `There is no skill at "${uri}"`, { uri })
    return {
      ...this.#cache,
      ...(served.source.visible && { cacheScope: 'private' }),
      skill: await served.entry(),
    }
  }

  async #readDirectory(params: JsonObject, ctx: Context): Promise<Result> {
    const uri = requireString(params, 'uri')
    const readable = [...this.#files.values()]
      .filter((file) => isVisible(file, ctx))
      .map(describeFile)
    for (const source of this.#dynamic) {
      if (isVisible(source, ctx)) readable.push(...(await dynamicFiles(uri, source, ctx)))
    }
    const children = childrenOf(uri, readable)
    if (children.length === 0) {
      throw new ProtocolError(INVALID_PARAMS, `"${uri}" is not a directory`, { uri })
    }
    const { page, nextCursor } = this.#pages(children, params.cursor, uri)
    return { resources: page, ...(nextCursor !== undefined && { nextCursor }) }
  }
}

/**
 * The files of a dynamic skill. Returns none if the directory is not inside the skill's folder and does not
 * contain the folder, so that `paths` is not called without need.
 */
async function dynamicFiles(
  directory: string,
  source: DynamicSkill,
  ctx: Context,
): Promise<Resource[]> {
  const root = rootOf(skillUri(source.frontmatter, source))
  if (!`${directory}/`.startsWith(root) && !root.startsWith(`${directory}/`)) return []
  const paths = await source.paths(ctx)
  return paths.map((path) => {
    const name = path === SKILL_FILE ? source.frontmatter.name : path
    return {
      uri: root + encodePath(path),
      name: name.slice(name.lastIndexOf('/') + 1),
      mimeType: mimeTypeOf(path),
    }
  })
}

/** The description of a file in lists. */
function describeFile({ uri, name, description, mimeType, bytes }: SkillFile): Resource {
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
  const { uri: _, ...metadata } = describeFile(file)
  server.resource(uri, { ...metadata, cache, ...(visible && { visible }) }, () => content)
}

function registerDynamic(server: Server, source: DynamicSkill, cache: CacheHints): void {
  const { frontmatter, visible, read } = source
  const uri = skillUri(frontmatter, source)
  const { name, description } = frontmatter
  const options = { cache, ...(visible && { visible }) }
  server.resource(uri, { name, description, mimeType: 'text/markdown', ...options }, (_, ctx) =>
    read(SKILL_FILE, ctx),
  )
  server.resourceTemplate(
    uriTemplate(`${rootOf(uri)}{+path}`),
    { name, ...options },
    async (request, ctx) => {
      const path = String(request.variables.path)
      const content = await read(path, ctx)
      if (content === undefined) return undefined
      const mimeType = mimeTypeOf(path, content)
      return typeof content === 'string'
        ? { contents: [{ uri: request.uri, mimeType, text: content }] }
        : content
    },
  )
}

/** The files and directories directly in the directory with that URI. */
function childrenOf(uri: string, files: readonly Resource[]): Resource[] {
  const children = new Map<string, Resource>()
  if (!/^skill:\/\/[^/]/.test(uri)) return []
  for (const file of files) {
    if (!file.uri.startsWith(`${uri}/`)) continue
    const [name = '', nameInside] = file.uri.slice(uri.length + 1).split('/', 2)
    const child = `${uri}/${name}`
    const isFile = nameInside === undefined
    if (isFile) children.set(child, file)
    else
      children.set(child, { uri: child, name: decodeURIComponent(name), mimeType: DIRECTORY_TYPE })
  }
  return [...children.values()]
}
