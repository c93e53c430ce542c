/**
 * Selects a model according to the server's preferences.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#model-preferences
 */
import type { ModelPreferences } from '../../protocol/types.ts'

/**
 * Selects a model by the server's hints, which are substrings of names in order of priority. Returns the
 * first model that matches the first hint that any model matches. Returns `undefined` if no hint
 * matches: choose a model by the numeric priorities then.
 *
 * @param models The names of the available models, in order of preference.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#model-preferences
 */
export function chooseModel(
  models: readonly string[],
  { hints = [] }: ModelPreferences = {},
): string | undefined {
  for (const { name } of hints) {
    const matchesHint = (model: string): boolean =>
      name !== undefined && model.toLowerCase().includes(name.toLowerCase())
    const model = models.find(matchesHint)
    if (model !== undefined) return model
  }
  return undefined
}
