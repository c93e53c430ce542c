/**
 * Changes of a text, by its original positions. Everything between two changes, such as comments and
 * white space, stays as it is.
 */

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The changes of one file. If one change contains another, the outer one wins. */
export class Edits {
  readonly #edits: Edit[] = []

  /** Replaces a part of the text. */
  replace(start: number, end: number, text: string): void {
    this.#edits.push({ start, end, text })
  }

  /** Inserts text. Several insertions at one position appear in the order of their calls. */
  insert(position: number, text: string): void {
    this.replace(position, position, text)
  }

  /** Inserts text before all other insertions at the position. */
  insertFirst(position: number, text: string): void {
    this.#edits.unshift({ start: position, end: position, text })
  }

  /** Whether a change replaces a part of the text completely. */
  covers(start: number, end: number): boolean {
    return this.#edits.some(
      (edit) => edit.start < edit.end && edit.start <= start && edit.end >= end,
    )
  }

  /**
   * Returns the changed text.
   *
   * @throws {RangeError} If two changes overlap in part, which would be a mistake of a transform.
   */
  apply(source: string): string {
    const replacements = this.#edits.filter(({ start, end }) => start < end)
    const outermost = this.#edits.filter(
      (edit) => !replacements.some((other) => other !== edit && this.#contains(other, edit)),
    )
    // The sort is stable, so that insertions at one position keep their order
    outermost.sort((a, b) => a.start - b.start || a.end - b.end)
    let result = ''
    let position = 0
    for (const { start, end, text } of outermost) {
      if (start < position) throw new RangeError('Two changes overlap')
      result += source.slice(position, start) + text
      position = end
    }
    return result + source.slice(position)
  }

  #contains(outer: Edit, inner: Edit): boolean {
    if (inner.start === inner.end) return outer.start < inner.start && inner.end < outer.end
    if (outer.start === inner.start && outer.end === inner.end) {
      return this.#edits.indexOf(outer) < this.#edits.indexOf(inner)
    }
    return outer.start <= inner.start && inner.end <= outer.end
  }
}
