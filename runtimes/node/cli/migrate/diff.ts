/**
 * Unified diffs.
 *
 * @see https://www.gnu.org/software/diffutils/manual/html_node/Unified-Format.html
 */

/** The number of unchanged lines around a change. */
const CONTEXT = 3

interface Line {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

/** Creates the unified diff of a file. Returns an empty text if there are no changes. */
export function unifiedDiff(path: string, before: string, after: string): string {
  const lines = compareLines(before.split('\n'), after.split('\n'))
  const changed = lines.flatMap(({ sign }, index) => (sign === ' ' ? [] : [index]))
  if (changed.length === 0) return ''
  const hunks: [start: number, end: number][] = []
  for (const index of changed) {
    const last = hunks.at(-1)
    const start = Math.max(0, index - CONTEXT)
    const end = Math.min(lines.length, index + CONTEXT + 1)
    if (last && start <= last[1]) last[1] = end
    else hunks.push([start, end])
  }
  return [`--- ${path}`, `+++ ${path}`, ...hunks.map((hunk) => formatHunk(lines, ...hunk))].join(
    '\n',
  )
}

function formatHunk(lines: readonly Line[], start: number, end: number): string {
  const countWithout = (part: readonly Line[], sign: string): number =>
    part.filter((line) => line.sign !== sign).length
  const [skipped, shown] = [lines.slice(0, start), lines.slice(start, end)]
  /** The first line of the hunk in a text, and the number of lines. The text lacks all lines with the sign. */
  const rangeWithout = (sign: string): string =>
    `${countWithout(skipped, sign) + 1},${countWithout(shown, sign)}`
  const body = shown.map(({ sign, text }) => sign + text)
  return [`@@ -${rangeWithout('+')} +${rangeWithout('-')} @@`, ...body].join('\n')
}

/** Compares texts line by line, by their longest common subsequence. */
function compareLines(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  const shorter = Math.min(before.length, after.length)
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const same = (text: string): Line => ({ sign: ' ', text })
  const middle = compareMiddle(
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  )
  return [
    ...before.slice(0, start).map(same),
    ...middle,
    ...before.slice(before.length - end).map(same),
  ]
}

/** Compares the lines between the first and the last different line. */
function compareMiddle(before: readonly string[], after: readonly string[]): Line[] {
  const width = after.length + 1
  /** For each pair of lines, the length of the longest common subsequence of the lines from there to the end. */
  const lengths = new Uint32Array((before.length + 1) * width)
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        before[i] === after[j]
          ? lengthAt(i + 1, j + 1) + 1
          : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
    }
  }
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [removed, added] = [before[i], after[j]]
    if (removed !== undefined && removed === added) {
      lines.push({ sign: ' ', text: removed })
      i++
      j++
    } else if (
      removed !== undefined &&
      (added === undefined || lengthAt(i + 1, j) >= lengthAt(i, j + 1))
    ) {
      lines.push({ sign: '-', text: removed })
      i++
    } else {
      lines.push({ sign: '+', text: added ?? '' })
      j++
    }
  }
  return lines
}
