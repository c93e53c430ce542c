/**
 * Finds the skills of a server.
 *
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */
import type { ExtensionClient } from '../client/extension.ts'
import type { RequestOptions } from '../client/request-options.ts'
import { SKILLS_EXTENSION } from '../protocol/extension-ids.ts'
import { negotiateRevision } from '../protocol/extension-revision.ts'
import { walkPages } from '../patterns/pages.ts'
import { SdkError } from '../protocol/errors.ts'
import type { Resource, Result, JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { isSkill, type Skill } from './skill.ts'

/**
 * Lists the skills, and fetches further pages when they are needed. Does not read the skills' files.
 * A server may list only some of its skills, or none.
 *
 * @throws {SdkError} `CAPABILITY_MISSING` if the server does not support skills; `INVALID_MESSAGE`
 *   if an entry is malformed; `LIMIT_EXCEEDED` if the list does not end.
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */
export async function* listSkills(
  client: ExtensionClient,
  options?: RequestOptions,
): AsyncGenerator<Skill, void, undefined> {
  requireSkills(client)
  yield* walkItems(client, 'skills/list', {}, 'skills', isSkill, options)
}

/**
 * Lists all skills at once. Throws the errors of {@link listSkills}.
 *
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */
export async function listAllSkills(
  client: ExtensionClient,
  options?: RequestOptions,
): Promise<Skill[]> {
  const skills: Skill[] = []
  for await (const skill of listSkills(client, options)) skills.push(skill)
  return skills
}

/**
 * Gets the current entry of one skill, even if the server does not list the skill.
 *
 * @param uri The URI of the skill's `SKILL.md`.
 * @throws {ProtocolError} `INVALID_PARAMS` if the server has no such skill.
 * @throws {SdkError} `CAPABILITY_MISSING` if the server does not support skills; `INVALID_MESSAGE`
 *   if the entry is malformed.
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */
export async function getSkill(
  client: ExtensionClient,
  uri: string,
  options?: RequestOptions,
): Promise<Skill> {
  requireSkills(client)
  const { skill } = await client.request('skills/get', { uri }, options)
  if (isSkill(skill) && skill.uri === uri) return skill
  throw invalidResult('skills/get', skill)
}

/**
 * Lists the direct children of a directory. A skill loaded with `loadSkill` cannot read a file only
 * because it is in the directory: the entry of the skill must allow the file.
 *
 * @param uri The URI of the directory, without a trailing slash.
 * @throws {ProtocolError} `INVALID_PARAMS` if the URI is not the URI of a directory.
 * @throws {SdkError} `CAPABILITY_MISSING` if the server does not support reading directories;
 *   `INVALID_MESSAGE` if a child is malformed; `LIMIT_EXCEEDED` if the list does not end.
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */
export async function readDirectory(
  client: ExtensionClient,
  uri: string,
  options?: RequestOptions,
): Promise<Resource[]> {
  if (requireSkills(client)?.directoryRead === false) throw notOffered('resources/directory/read')
  const children: Resource[] = []
  const list = walkItems(
    client,
    'resources/directory/read',
    { uri },
    'resources',
    isResource,
    options,
  )
  for await (const child of list) children.push(child)
  return children
}

/**
 * Lists the items of all pages that a method returns.
 *
 * @param member The name of the result's member that contains the items of a page.
 */
async function* walkItems<T extends object>(
  client: ExtensionClient,
  method: string,
  params: JsonObject,
  member: string,
  isItem: (value: unknown) => value is T,
  options?: RequestOptions,
): AsyncGenerator<T, void, undefined> {
  const fetchPage = async (cursor: string | undefined): Promise<Result> => {
    const pageParams = cursor === undefined ? params : { ...params, cursor }
    const result = await client.request(method, pageParams, options)
    const { [member]: list, nextCursor } = result
    const isPage = Array.isArray(list) && list.every(isItem) && isCursor(nextCursor)
    if (!isPage) throw invalidResult(method, result)
    return result
  }
  yield* walkPages<T>(method, fetchPage, member, {}, (error) => {
    throw error
  })
}

function isCursor(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string'
}

/**
 * The server's settings for the extension; `undefined` if the server has not declared its
 * capabilities yet.
 *
 * @throws {SdkError} `CAPABILITY_MISSING` if the server does not support skills.
 */
function requireSkills({ serverCapabilities }: ExtensionClient): JsonObject | undefined {
  if (!serverCapabilities) return undefined
  const settings = serverCapabilities.extensions?.[SKILLS_EXTENSION]
  if (isObject(settings) && negotiateRevision(settings) !== undefined) {
    return { directoryRead: false, ...settings }
  }
  throw notOffered(SKILLS_EXTENSION)
}

function isResource(value: unknown): value is Resource {
  return isObject(value) && typeof value.uri === 'string'
}

function notOffered(feature: string): SdkError {
  return new SdkError('CAPABILITY_MISSING', `The server does not offer "${feature}"`)
}

function invalidResult(method: string, data: unknown): SdkError {
  return new SdkError('INVALID_MESSAGE', `"${method}" returned an invalid result`, { data })
}
