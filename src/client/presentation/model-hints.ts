/**
 * Which model a server would like to have.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#model-preferences
 */
import type { ModelPreferences } from '../../protocol/types.ts'

/**
 * The first of the models that the first hint which fits any names: hints are parts of names, and
 * those that come first matter most. Nothing when no hint fits; then the priorities may decide.
 *
 * @param models The names of the models at hand, the most wanted first.
 */
export function chooseModel(
  models: readonly string[],
  { hints = [] }: ModelPreferences = {},
): string | undefined {
  for (const { name } of hints) {
    const fits = (model: string): boolean =>
      name !== undefined && model.toLowerCase().includes(name.toLowerCase())
    const model = models.find(fits)
    if (model !== undefined) return model
  }
  return undefined
}
