/**
 * Loads a skill: reads its files on demand, and rejects any file that does not match the skill's entry.
 * The entry is what the server listed.
 *
 * A matching digest proves that the server is consistent, not that it can be trusted. Before you give
 * the text to a model, ask the user for approval, and label the text with its origin.
 *
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */
import type { ExtensionClient } from '../client/extension.ts'
import type { RequestOptions } from '../client/request-options.ts'
import { SdkError } from '../protocol/errors.ts'
import { isObject } from '../protocol/validate.ts'
import { digestOf } from './digest.ts'
import { isSameJson, readFrontmatter } from './frontmatter.ts'
import { isSkill, rootOf, type Skill } from './skill.ts'

/** One file that was read and verified. */
export interface SkillContent {
  readonly uri: string
  readonly mimeType: string | undefined
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The bytes decoded as UTF-8. */
  readonly text: string
}

/** A skill in use. */
export interface LoadedSkill {
  /** The entry that was loaded. The user's approval applies to this entry only. */
  readonly skill: Skill
  /** The whole `SKILL.md`. */
  readonly text: string
  /**
   * Reads another file of the skill. Each file is fetched only once.
   *
   * @param reference A path relative to the skill's folder, or the URI of a file in the folder.
   * @throws {SdkError} `INVALID_MESSAGE` if the entry does not list the file, or the file does not
   *   match the entry. Then get the entry of the skill again, and ask the user for approval again.
   */
  read(reference: string, options?: RequestOptions): Promise<SkillContent>
}

/**
 * Reads the `SKILL.md` of a skill, and verifies its size, digest and frontmatter.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { listSkills, loadSkill } from 'edgewise/skills'
 *
 * await using client = await connect('https://example.com/mcp')
 * for await (const skill of listSkills(client)) {
 *   console.log(skill.frontmatter.description) // Show this to the user
 *   const { text } = await loadSkill(client, skill)
 * }
 * ```
 *
 * @param skill An entry returned by {@link listSkills} or {@link getSkill}.
 * @throws {SdkError} `INVALID_MESSAGE` if the file does not match the entry; `INVALID_USE` if the
 *   entry is malformed.
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */
export async function loadSkill(
  client: ExtensionClient,
  skill: Skill,
  options?: RequestOptions,
): Promise<LoadedSkill> {
  if (!isSkill(skill)) throw new SdkError('INVALID_USE', 'The skill is not valid')
  const entry = structuredClone(skill)
  const { text } = await readVerified(client, entry, skill.uri, options)
  if (!isSameJson(readFrontmatter(text), entry.frontmatter)) {
    throw mismatch(skill.uri, 'its frontmatter differs from the entry')
  }
  const cache = new Map<string, Promise<SkillContent>>()
  return {
    skill: entry,
    text,
    read(reference, readOptions) {
      const uri = resolveReference(entry, reference)
      const loaded = cache.get(uri)
      if (loaded) return loaded
      const reading = readVerified(client, entry, uri, readOptions)
      cache.set(uri, reading)
      // A failed read can be retried
      reading.catch(() => cache.delete(uri))
      return reading
    },
  }
}

/** The URI of a file in the folder of a skill. */
function resolveReference({ uri }: Skill, reference: string): string {
  const root = rootOf(uri)
  if (reference.startsWith(root)) return reference
  const names: string[] = []
  for (const name of reference.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(encodeURIComponent(name))
  }
  return root + names.join('/')
}

/**
 * Reads a file, and verifies that it matches the entry.
 *
 * @throws {SdkError} `INVALID_MESSAGE` if the file does not match.
 */
async function readVerified(
  client: ExtensionClient,
  { uri: skillUri, resources }: Skill,
  uri: string,
  options: RequestOptions | undefined,
): Promise<SkillContent> {
  const listed = resources === 'dynamic' ? undefined : resources.find((file) => file.uri === uri)
  if (!listed && (resources !== 'dynamic' || !uri.startsWith(rootOf(skillUri)))) {
    throw mismatch(uri, 'the entry does not list it')
  }
  // `reload` ignores cached copies, which might belong to an earlier entry
  const { contents } = await client.request(
    'resources/read',
    { uri },
    { ...options, cache: 'reload' },
  )
  const content: unknown = Array.isArray(contents)
    ? contents.find((item) => isObject(item) && item.uri === uri)
    : undefined
  const bytes = bytesOf(content)
  if (!bytes) throw mismatch(uri, 'it has no content')
  if (listed && bytes.length !== listed.size) throw mismatch(uri, 'its size differs')
  if (listed && (await digestOf(bytes)) !== listed.digest) throw mismatch(uri, 'its digest differs')
  const { mimeType } = content as { mimeType?: unknown }
  return {
    uri,
    mimeType: typeof mimeType === 'string' ? mimeType : undefined,
    bytes,
    text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
  }
}

/** The bytes of the contents of a resource; `undefined` if they are invalid. */
function bytesOf(content: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (!isObject(content)) return undefined
  const { text, blob } = content
  if (typeof text === 'string') return new TextEncoder().encode(text)
  if (typeof blob !== 'string') return undefined
  try {
    return Uint8Array.from(atob(blob), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

function mismatch(uri: string, reason: string): SdkError {
  return new SdkError('INVALID_MESSAGE', `"${uri}" cannot be used: ${reason}`, { data: { uri } })
}
