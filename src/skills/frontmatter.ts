/**
 * The frontmatter of a `SKILL.md`.
 *
 * @see https://agentskills.io/specification
 */
import { load } from 'js-yaml'
import { isObject } from '../protocol/validate.ts'
import type { Frontmatter } from './skill.ts'

/** The maximum number of YAML aliases. Without a limit, they could expand beyond the available memory. */
const MAX_ALIASES = 10

const FRONTMATTER_BLOCK = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/

/**
 * Parses the frontmatter of a skill into JSON values. Returns `undefined` if the frontmatter is missing
 * or invalid.
 *
 * @param text The whole file.
 */
export function readFrontmatter(text: string): Frontmatter | undefined {
  const block = FRONTMATTER_BLOCK.exec(text)?.[1]
  if (block === undefined) return undefined
  let fields: unknown
  try {
    // A round trip through JSON text leaves only JSON values
    fields = JSON.parse(JSON.stringify(load(block, { maxAliases: MAX_ALIASES })) ?? 'null')
  } catch {
    return undefined
  }
  if (!isObject(fields)) return undefined
  const { name, description } = fields
  if (typeof name !== 'string' || typeof description !== 'string' || description === '') {
    return undefined
  }
  return { ...fields, name, description }
}

/** Whether two JSON values are equal, regardless of the order of members. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSameJson(item, other[index]))
  }
  if (!isObject(one) || !isObject(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]))
  )
}
