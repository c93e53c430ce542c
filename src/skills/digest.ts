/**
 * Digests of files.
 *
 * @see https://modelcontextprotocol.io/extensions/skills/overview
 */

/** The digest of a file's bytes, in the format of skill entries. */
export async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
