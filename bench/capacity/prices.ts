/**
 * Cloudflare's public prices of the plan Workers Paid, in dollars a month. They were read on
 * 29 November 2026 in copies of these pages, which have no date of their own; the newest dated text
 * with the same figures is of July 2026.
 *
 * @see https://developers.cloudflare.com/workers/platform/pricing/
 * @see https://developers.cloudflare.com/durable-objects/platform/pricing/
 */

/** What is included, and what a million more costs. */
interface Price {
  readonly included: number
  readonly perMillion: number
}

const million = 1_000_000

export const PLAN = 5
export const WORKER_REQUESTS: Price = { included: 10 * million, perMillion: 0.3 }
export const WORKER_CPU_MS: Price = { included: 30 * million, perMillion: 0.02 }
export const OBJECT_REQUESTS: Price = { included: million, perMillion: 0.15 }
/** An object is billed with 128 MB while it works: one second is 0.128 GB-s. */
export const OBJECT_GB_S: Price = { included: 400_000, perMillion: 12.5 }
/** Rows of SQLite storage, which is billed since January 2026. A deleted row is a written one. */
export const ROWS_READ: Price = { included: 25_000 * million, perMillion: 0.001 }
export const ROWS_WRITTEN: Price = { included: 50 * million, perMillion: 1 }
/** In GB; the price is that of a GB. */
export const STORED_GB = { included: 5, perGb: 0.2 }

/** What a month's amount costs beyond what is included. */
export function priceOf({ included, perMillion }: Price, amount: number): number {
  return (Math.max(0, amount - included) / million) * perMillion
}
