/**
 * Names within the alphabet and length of model APIs, which refuse a whole request because of one
 * other name.
 */
import { digestText } from '../patterns/digest.ts'

/** How many characters of a digest tell names apart. */
const DIGEST_LENGTH = 6

/** The shortest limit that leaves room for a letter and a digest. */
export const MIN_NAME_LENGTH: number = DIGEST_LENGTH + 2

/**
 * A name for each original. One that needs no change stays as it is. One that does, and would then
 * be the name of another, ends in a digest of the original. The order of the originals decides
 * nothing.
 *
 * @param clean Replaces what is not in the alphabet.
 */
export async function modelNames(
  originals: Iterable<string>,
  clean: (name: string) => string,
  maxLength: number,
): Promise<Map<string, string>> {
  // Sorted, so that even a collision of digests is resolved in the same way each time
  const sorted = [...new Set(originals)].toSorted()
  const plain = new Map(sorted.map((original) => [original, clean(original).slice(0, maxLength)]))
  const taken = new Set<string>()
  const shared = new Set<string>()
  for (const name of plain.values()) (taken.has(name) ? shared : taken).add(name)
  const names = new Map<string, string>()
  for (const [original, first] of plain) {
    let name = first
    for (let round = 0; shared.has(first) && name !== original && taken.has(name); round++) {
      const digest = await digestText(original + '\0'.repeat(round))
      name = `${first.slice(0, maxLength - DIGEST_LENGTH - 1)}_${digest.slice(0, DIGEST_LENGTH)}`
    }
    taken.add(name)
    names.set(original, name)
  }
  return names
}
