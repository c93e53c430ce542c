/** Shortens texts of servers, which may have any length. */

/** The maximum length of a description, in characters. Laying out a longer one would block the page. */
const MAX_DESCRIPTION = 5_000

/** Returns the beginning of a text, if it is longer than a number of characters. */
export function shorten(text: string, maxLength: number = MAX_DESCRIPTION): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}
