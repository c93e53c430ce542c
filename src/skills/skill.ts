/**
 * The wire format of a skill.
 *
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */
import type { JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'

/** The name of the file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md'

/** The media type of a resource that is a directory. */
export const DIRECTORY_TYPE = 'inode/directory'

/** One file of a skill. */
export interface SkillResource {
  uri: string
  /** The SHA-256 digest of the raw bytes: `sha256:` and 64 lowercase hexadecimal digits. */
  digest: string
  /** The size of the file in bytes. */
  size: number
}

/** The complete frontmatter of a `SKILL.md`. */
export interface Frontmatter extends JsonObject {
  name: string
  description: string
}

/**
 * The entry of one skill, which describes its purpose and its files.
 *
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */
export interface Skill {
  /** The URI of the skill's `SKILL.md`. It identifies the skill only on this server. */
  uri: string
  /** The frontmatter of the skill's `SKILL.md`, with the name and the description of the skill. */
  frontmatter: Frontmatter
  /** All files; `dynamic` if the files are generated on request, and therefore cannot be verified. */
  resources: SkillResource[] | 'dynamic'
}

/** Whether a value is a skill that hosts may load. */
export function isSkill(value: unknown): value is Skill {
  if (!isObject(value) || typeof value.uri !== 'string') return false
  const { uri, frontmatter, resources } = value
  if (!isObject(frontmatter)) return false
  const { name, description } = frontmatter
  if (typeof name !== 'string' || typeof description !== 'string') return false
  if (!uri.endsWith(`/${name}/${SKILL_FILE}`)) return false
  if (resources === 'dynamic') return true
  return (
    Array.isArray(resources) &&
    resources.every(isSkillResource) &&
    resources.some((file) => file.uri === uri) &&
    resources.every((file) => file.uri.startsWith(rootOf(uri)))
  )
}

function isSkillResource(value: unknown): value is SkillResource {
  if (!isObject(value)) return false
  const { uri, digest, size } = value
  return (
    typeof uri === 'string' &&
    typeof digest === 'string' &&
    /^sha256:[0-9a-f]{64}$/.test(digest) &&
    Number.isSafeInteger(size) &&
    Number(size) >= 0
  )
}

/** The URI of a skill's folder, with a trailing slash, from the URI of its `SKILL.md`. */
export function rootOf(uri: string): string {
  return uri.slice(0, -SKILL_FILE.length)
}
