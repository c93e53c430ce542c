/**
 * The ids of processed events, to recognize repetitions.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { boundedCache } from '../../patterns/bounded-cache.ts'

/** How many ids of a subscription are remembered in memory. */
const MAX_IDS = 1_000
/** How many ids of a subscription are also stored, to recognize repetitions after a restart. */
const MAX_STORED_IDS = 200

/** The ids of the latest events of one subscription. */
export class SeenIds {
  readonly #ids = boundedCache<string, true>(MAX_IDS)

  constructor(stored: readonly string[]) {
    for (const id of stored) this.#ids.set(id, true)
  }

  has(id: string): boolean {
    return this.#ids.get(id) === true
  }

  /** Adds an id. Returns the ids to store: the ids stored so far and the new one, but at most the latest 200. */
  add(id: string, stored: readonly string[]): readonly string[] {
    this.#ids.set(id, true)
    return [...stored, id].slice(-MAX_STORED_IDS)
  }
}
