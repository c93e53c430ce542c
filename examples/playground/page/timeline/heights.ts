/** The heights of the slots of a long list. */

/**
 * Skips the slots of a list, beginning with the one at `from`, that end above a height. Returns the index of the next
 * slot, and the height of those that were skipped.
 */
export function skipHeight(
  slots: readonly { height: number }[],
  from: number,
  below: number,
): [index: number, height: number] {
  let index = from
  let height = 0
  for (let slot = slots[index]; slot && height + slot.height <= below;) {
    height += slot.height
    slot = slots[++index]
  }
  return [index, height]
}

/** The height of all slots. */
export function heightOf(slots: readonly { height: number }[]): number {
  return slots.reduce((sum, { height }) => sum + height, 0)
}
