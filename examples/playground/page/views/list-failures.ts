/**
 * Explains which lists of a server could not be fetched, and why. Loaded on demand.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination
 */
import type { ListFailure } from '../catalog.ts'
import { explain } from '../errors.ts'
import { failureCard, type FailureContext } from '../explanation.ts'

/** Creates a card for each reason. */
export function failureCards(
  failures: readonly ListFailure[],
  context: FailureContext,
): HTMLElement[] {
  const reasons = new Map(failures.map(({ error }) => [String(error), error]))
  return Array.from(reasons, ([reason, error]) => {
    const { headline, ...explanation } = explain(error, context)
    const methods = failures.flatMap((each) => (String(each.error) === reason ? [each.method] : []))
    return failureCard({ ...explanation, headline: `${methods.join(', ')} failed: ${headline}` })
  })
}
