/**
 * The files of static skills: their URIs, media types and digests.
 *
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */
import type { Viewer } from '../server/request/exchange.ts'
import { digestOf } from './digest.ts'
import { readFrontmatter } from './frontmatter.ts'
import { rootOf, SKILL_FILE, type Frontmatter, type Skill } from './skill.ts'

/** The options that every skill has. */
export interface BaseSkill {
  /**
   * Path segments before the skill's own name, such as `acme/billing`.
   *
   * @default ''
   */
  prefix?: string
  /**
   * Whether `skills/list` includes the skill; `skills/get` finds it in any case.
   *
   * @default true
   */
  listed?: boolean
  /** Whether a caller may see and read the skill. By default every caller may. */
  visible?: (viewer: Viewer) => boolean
}

/** A skill whose files are known in advance. */
export interface StaticSkill extends BaseSkill {
  /** The contents of the files, by their paths, such as `references/FORMS.md`. `SKILL.md` is required. */
  files: { readonly [path: string]: string | Uint8Array }
}

/** One file, at its URI. */
export interface SkillFile {
  readonly uri: string
  /** The last segment of the path; for `SKILL.md`, the name of the skill. */
  readonly name: string
  readonly description: string | undefined
  readonly mimeType: string
  readonly content: string | Uint8Array<ArrayBuffer>
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly visible: BaseSkill['visible']
}

/** The maximum number of files in a skill that every host accepts. */
const MAX_FILES = 512
/** The maximum total size of the files in a skill that every host accepts, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024
/** The maximum length of a skill's name. */
const MAX_NAME_LENGTH = 64

const VALID_NAME = /^[a-z0-9](?:-?[a-z0-9])*$/
const encoder = new TextEncoder()

/**
 * The URI of a skill's `SKILL.md`.
 *
 * @throws {TypeError} If the name or the prefix cannot be part of a URI.
 */
export function skillUri({ name }: Frontmatter, { prefix = '' }: BaseSkill): string {
  if (!VALID_NAME.test(name) || name.length > MAX_NAME_LENGTH) {
    throw new TypeError(`A skill cannot be called "${name}": use a-z, 0-9 and single hyphens`)
  }
  const path = prefix === '' ? name : `${prefix}/${name}`
  return `skill://${encodePath(path)}/${SKILL_FILE}`
}

/**
 * The frontmatter of a static skill.
 *
 * @throws {TypeError} If `SKILL.md` is missing, or lacks a name or a description.
 */
export function frontmatterOf({ files }: StaticSkill): Frontmatter {
  const file = Object.hasOwn(files, SKILL_FILE) ? files[SKILL_FILE] : undefined
  const text = file instanceof Uint8Array ? new TextDecoder().decode(file) : (file ?? '')
  const frontmatter = readFrontmatter(text)
  if (!frontmatter) {
    throw new TypeError(
      'A skill needs a "SKILL.md" with a name and a description in its frontmatter',
    )
  }
  const { metadata } = frontmatter
  const reserved = Object.keys(metadata ?? {}).find((key) =>
    key.startsWith('io.modelcontextprotocol/'),
  )
  if (reserved !== undefined) throw new TypeError(`The metadata "${reserved}" is reserved`)
  return frontmatter
}

/**
 * The files of a static skill.
 *
 * @param uri The URI of the skill's `SKILL.md`.
 * @throws {TypeError} If a path is invalid.
 */
export function filesOf(uri: string, skill: StaticSkill, frontmatter: Frontmatter): SkillFile[] {
  return Object.entries(skill.files).map(([path, source]): SkillFile => {
    const isSkillFile = path === SKILL_FILE
    // Copied, so that later changes of the caller's array have no effect
    const content = typeof source === 'string' ? source : new Uint8Array(source)
    return {
      uri: rootOf(uri) + encodePath(path),
      name: isSkillFile ? frontmatter.name : path.slice(path.lastIndexOf('/') + 1),
      description: isSkillFile ? frontmatter.description : undefined,
      mimeType: mimeTypeOf(path, source),
      content,
      bytes: typeof content === 'string' ? encoder.encode(content) : content,
      visible: skill.visible,
    }
  })
}

/**
 * Creates a function that returns the entry of a static skill. The entry contains all files in the
 * skill's folder, including files of nested skills. The digests are computed on the first call.
 *
 * @param uri The URI of the skill's `SKILL.md`.
 * @param allFiles The files of all skills of the server.
 * @throws {TypeError} If the skill exceeds the number of files or bytes that every host accepts.
 */
export function createEntryReader(
  uri: string,
  frontmatter: Frontmatter,
  allFiles: Iterable<SkillFile>,
): () => Promise<Skill> {
  const files = [...allFiles].filter((file) => file.uri.startsWith(rootOf(uri)))
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (files.length > MAX_FILES || totalBytes > MAX_BYTES) {
    throw new TypeError(`"${uri}" has more than ${MAX_FILES} files or ${MAX_BYTES} bytes`)
  }
  let entry: Promise<Skill> | undefined
  const createEntry = async (): Promise<Skill> => {
    const resources = files.map(async (file) => {
      return { uri: file.uri, digest: await digestOf(file.bytes), size: file.bytes.length }
    })
    return { uri, frontmatter, resources: await Promise.all(resources) }
  }
  return () => (entry ??= createEntry())
}

/**
 * Encodes a path as part of a URI.
 *
 * @throws {TypeError} If a segment of the path is empty, `.` or `..`, or contains a backslash or NUL.
 */
export function encodePath(path: string): string {
  const names = path.split('/')
  if (names.some((name) => ['', '.', '..'].includes(name) || /[\\\0]/.test(name))) {
    throw new TypeError(`"${path}" is not a valid path of a skill file`)
  }
  return names.map(encodeURIComponent).join('/')
}

const MIME_TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  txt: 'text/plain',
  csv: 'text/csv',
  html: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  mjs: 'text/javascript',
  ts: 'text/x-typescript',
  py: 'text/x-python',
  sh: 'application/x-sh',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  xml: 'application/xml',
  pdf: 'application/pdf',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
}

/** The media type of a file, by its extension. */
export function mimeTypeOf(path: string, content?: string | Uint8Array): string {
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  const mimeType = Object.hasOwn(MIME_TYPES, extension) ? MIME_TYPES[extension] : undefined
  return mimeType ?? (content instanceof Uint8Array ? 'application/octet-stream' : 'text/plain')
}
