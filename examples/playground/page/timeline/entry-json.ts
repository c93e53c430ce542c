/** An entry as JSON, for the clipboard. */
import type { Entry } from './entry.ts'

/** Returns what an entry consists of, in the order of time. */
export function entryJson({ kind, title, about, outcome, start, end, parts }: Entry): object {
  return {
    kind,
    title,
    about,
    outcome,
    startedAt: new Date(start).toISOString(),
    durationMs: end === undefined ? undefined : round(end - start),
    parts: parts.map(({ at, title: name, note, lines, body }) => ({
      afterMs: round(at - start),
      title: name,
      note,
      http: lines,
      ...(body?.text === undefined ? { json: body?.json } : { text: body.text }),
    })),
  }
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}
