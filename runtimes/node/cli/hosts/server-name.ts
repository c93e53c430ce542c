/**
 * The name under which a host lists a server.
 */
import { UsageError } from '../usage.ts'

/** The names that every host accepts. */
const NAME = /^[A-Za-z][\w-]{0,63}$/

/**
 * Derives the name of a server from the name of a package, a host or a program. Returns an empty text if no character
 * can be used.
 */
export function cleanName(text: string): string {
  return text
    .replace(/^@[^/]*\//, '') // The scope of a package, such as "@example/"
    .replace(/(?<=.)@.*$/, '') // The version of a package, such as "@1.2.0"
    .replaceAll(/[^\w-]+/g, '-') // Characters that a name must not contain
    .replaceAll(/^[^A-Za-z]+|-+$/g, '') // A beginning that is not a letter, and hyphens at the end
    .slice(0, 64)
}

/**
 * Checks the name of a server.
 *
 * @throws {UsageError} If a host could not use the name.
 */
export function requireName(name: string | undefined): string {
  if (name !== undefined && NAME.test(name)) return name
  throw new UsageError(
    `The name of a server must be a letter and up to 63 letters, digits, "-" and "_", not "${name ?? ''}"`,
  )
}

/**
 * Derives a name from a URL: the last label of the hostname that is neither the top-level domain nor generic, such as
 * "linear" for `mcp.linear.app`. Returns an empty text if there is no such label, or if the hostname is an IP address.
 */
export function nameOfUrl({ hostname }: URL): string {
  if (/^[\d.]+$|:/.test(hostname)) return ''
  const labels = hostname.split('.')
  if (labels.length === 1) return hostname
  return (
    labels.slice(0, -1).findLast((label) => !/^(?:mcp|api|www|com?|workers)$/.test(label)) ?? ''
  )
}
