/**
 * Reads the version of this package.
 */
import { readFile } from 'node:fs/promises'

/** The version in the package's manifest. */
export async function version(): Promise<string> {
  // The manifest is two folders up from a built chunk, three from the source, four from a built entry
  for (const folder of ['../../', '../../../', '../../../../']) {
    const text = await readFile(new URL(`${folder}package.json`, import.meta.url), 'utf8').catch(
      () => '',
    )
    if (text !== '') return String((JSON.parse(text) as { version: unknown }).version)
  }
  return 'unknown'
}
