/**
 * The shapes of JSON documents, and a check that lists what is wrong with a value. A JSON Schema
 * validator would be larger than everything else that serves a card.
 *
 * @see https://json-schema.org/draft-07/json-schema-validation
 */
import { isObject } from '../protocol/validate.ts'

/**
 * A text that matches a pattern, a boolean, a list of one shape, or an object. Of an object's
 * members, those whose name ends with `!` are required. The name `*` stands for all members, and `&`
 * adds the members of another shape. Other members may have any value.
 *
 * Shapes contain no spread members, because bundlers would keep them even if they are unused.
 */
export type Shape = RegExp | boolean | readonly [Shape] | { readonly [member: string]: Shape }

/** Any boolean. */
export const BOOLEAN: Shape = false
/** Any text. */
export const TEXT: RegExp = /^/
/** A text of 1 to 100 characters. With the flag `u`, a dot is a code point, as in JSON Schema. */
export const SHORT_TEXT: RegExp = /^.{1,100}$/su
/** An absolute URI. */
export const URI: RegExp = /^[a-z][a-z\d+.-]*:\S+$/i

/** Returns what is wrong with a value; an empty list if it has the shape. */
export function faultsOf(value: unknown, shape: Shape, path = ''): string[] {
  const fault = (expected: string): string[] => [`"${path || 'document'}" must be ${expected}`]
  if (shape instanceof RegExp) {
    return typeof value === 'string' && shape.test(value)
      ? []
      : fault(`a text like ${String(shape)}`)
  }
  if (typeof shape === 'boolean') return typeof value === 'boolean' ? [] : fault('a boolean')
  if (shape instanceof Array) {
    if (!Array.isArray(value)) return fault('a list')
    return value.flatMap((item, at) => faultsOf(item, shape[0], `${path}[${at}]`))
  }
  if (!isObject(value)) return fault('an object')
  return Object.entries(shape).flatMap(([key, member]) => {
    if (key === '&') return faultsOf(value, member, path)
    const memberName = key.replace('!', '')
    const isOptional = memberName === key
    const names = key === '*' ? Object.keys(value) : [memberName]
    return names.flatMap((name) =>
      value[name] === undefined && isOptional
        ? []
        : faultsOf(value[name], member, path ? `${path}.${name}` : name),
    )
  })
}

/**
 * Rejects an invalid document of the application.
 *
 * @param document How the message names the document.
 * @throws {TypeError} If there are faults; the message lists all.
 */
export function requireValid(document: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new TypeError(`${document} is invalid: ${faults.join('; ')}`)
}
