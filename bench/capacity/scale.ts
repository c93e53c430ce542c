/** What the programs that check the capacity model agree on. */

/** The hub objects of the Worker. */
export const SHARDS = 4

/** The one resource that a client subscribes to. */
export function resourceOf(client: number): string {
  return `client://${client}`
}
