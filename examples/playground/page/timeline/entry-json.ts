/** An entry as JSON, for the clipboard. */
import { redact } from '../secrets.ts'
import type { Entry } from './entry.ts'
import { isSecretInMessage, REDACTED } from './redact.ts'

/** Returns what an entry consists of, in the order of time, without secrets. */
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
      ...(body?.text === undefined
        ? { json: redact(body?.json, '', isSecretInMessage, () => REDACTED) }
        : { text: body.text }),
    })),
  }
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}
