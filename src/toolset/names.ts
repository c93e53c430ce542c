/**
 * Creates names that model APIs accept. The APIs limit the characters and the length of a name, and reject
 * a whole request because of one invalid name.
 */
import { digestText } from '../patterns/digest.ts'

/** The number of digest characters that distinguish names. */
const DIGEST_LENGTH = 6

/** The lowest limit for the length of names. A name may have to contain a letter, a separator and a digest. */
export const MIN_NAME_LENGTH: number = DIGEST_LENGTH + 2

/**
 * Assigns a valid name to each original name. A valid original name is unchanged. If a changed name would
 * collide with another name, it ends in a digest of the original name. The result does not depend on the
 * order of the original names.
 *
 * @param clean Replaces the invalid characters in a name.
 * @param maxLength The maximum length of a name.
 */
export async function createModelNames(
  originals: Iterable<string>,
  clean: (name: string) => string,
  maxLength: number,
): Promise<Map<string, string>> {
  // Sorted, so that even a collision of digests is resolved deterministically
  const sorted = [...new Set(originals)].toSorted()
  const cleanNames = new Map(
    sorted.map((original) => [original, clean(original).slice(0, maxLength)]),
  )
  const usedNames = new Set<string>()
  const collisions = new Set<string>()
  for (const name of cleanNames.values()) {
    if (usedNames.has(name)) collisions.add(name)
    usedNames.add(name)
  }
  const names = new Map<string, string>()
  for (const [original, cleanName] of cleanNames) {
    let name = cleanName
    const collides = collisions.has(cleanName)
    for (let round = 0; collides && name !== original && usedNames.has(name); round++) {
      const digest = await digestText(original + '\0'.repeat(round))
      name = `${cleanName.slice(0, maxLength - DIGEST_LENGTH - 1)}_${digest.slice(0, DIGEST_LENGTH)}`
    }
    usedNames.add(name)
    names.set(original, name)
  }
  return names
}
