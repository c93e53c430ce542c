/**
 * The frontmatter of a `SKILL.md`.
 *
 * @see https://agentskills.io/specification
 */
import { load } from 'js-yaml'
import { isObject } from '../protocol/validate.ts'
import type { Frontmatter } from './skill.ts'

/** Limit for YAML aliases, which could otherwise expand beyond available memory. */
const MAX_ALIASES = 10

const BLOCK = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/

/**
 * Parses the frontmatter into JSON values; `undefined` if it is missing or invalid for a skill.
 *
 * @param text The whole file.
 */
export function readFrontmatter(text: string): Frontmatter | undefined {
  const block = BLOCK.exec(text)?.[1]
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
