/**
 * Selects a model according to the server's preferences.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#model-preferences
 */
import type { ModelPreferences } from '../../protocol/types.ts'

/**
 * Selects a model by the server's hints. A hint is a part of a model's name. The hints are tried in order:
 * the first hint that matches any model decides, and the first model that it matches is returned. If no
 * hint matches, the result is `undefined`, and you choose a model by the numeric priorities.
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
