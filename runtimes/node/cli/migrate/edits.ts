/**
 * Changes a text at positions of the original text. Everything between two changes, such as comments and
 * white space, stays as it is.
 */

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A placeholder for a range of the original text. It is delimited by NUL, which no source contains. */
const PLACEHOLDER = /\0(\d+):(\d+)\0/g

/**
 * Returns a placeholder for a range of the original text, to put into the new text of a change. {@link Edits.apply}
 * replaces the placeholder with the text of the range, including the changes in the range.
 */
export function rangePlaceholder(start: number, end: number): string {
  return `\0${start}:${end}\0`
}

/** The changes of one file. If one change contains another, only the outer change is applied. */
export class Edits {
  readonly #edits: Edit[] = []

  /** Replaces a part of the original text. */
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

  /** Whether a change replaces a range of the text, and has no placeholder that keeps the range. */
  covers(start: number, end: number): boolean {
    return this.#edits.some((edit) => {
      if (edit.start === edit.end || edit.start > start || edit.end < end) return false
      return !keptRanges(edit).some((kept) => kept.start <= start && end <= kept.end)
    })
  }

  /**
   * Returns the changed text.
   *
   * @throws {RangeError} If two changes overlap and neither contains the other, which is a mistake
   *   in a transform.
   */
  apply(source: string): string {
    return this.#render(source, 0, source.length, undefined)
  }

  /**
   * Returns the text of a range with the changes in it, except for the change whose placeholder is being
   * replaced.
   */
  #render(source: string, from: number, until: number, current: Edit | undefined): string {
    const inside = this.#edits.filter(
      (edit) => edit !== current && from <= edit.start && edit.end <= until,
    )
    const replacements = inside.filter(({ start, end }) => start < end)
    const outermost = inside.filter(
      (edit) => !replacements.some((other) => other !== edit && this.#contains(other, edit)),
    )
    // The sort is stable, so that insertions at one position keep their order
    outermost.sort((a, b) => a.start - b.start || a.end - b.end)
    let result = ''
    let position = from
    for (const edit of outermost) {
      if (edit.start < position) throw new RangeError('Two changes overlap')
      const text = edit.text.replaceAll(PLACEHOLDER, (_match, start: string, end: string) =>
        this.#render(source, Number(start), Number(end), edit),
      )
      result += source.slice(position, edit.start) + text
      position = edit.end
    }
    return result + source.slice(position, until)
  }

  /** Whether one change contains another. Of several changes to one range, the first contains the others. */
  #contains(outer: Edit, inner: Edit): boolean {
    if (inner.start === inner.end) return outer.start < inner.start && inner.end < outer.end
    if (outer.start === inner.start && outer.end === inner.end) {
      return this.#edits.indexOf(outer) < this.#edits.indexOf(inner)
    }
    return outer.start <= inner.start && inner.end <= outer.end
  }
}

/** The ranges of the original text whose placeholders are in the new text of a change. */
function keptRanges({ text }: Edit): { start: number; end: number }[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, start, end]) => ({
    start: Number(start),
    end: Number(end),
  }))
}
