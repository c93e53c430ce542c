/**
 * The file of an exported session: JSON with the records, without secrets. It is loaded on demand.
 *
 * ```json
 * {
 *   "format": "edgewise-session",
 *   "version": 1,
 *   "startedAt": "2026-07-28T12:00:00.000Z",
 *   "exportedAt": "2026-07-28T12:03:00.000Z",
 *   "settings": { "url": "https://example.com/mcp", "revision": "auto" },
 *   "records": []
 * }
 * ```
 *
 * The time of a record, `at`, is in milliseconds since `startedAt`.
 */
import { isObject } from 'edgewise/browser'
import { tryParse } from '../json.ts'
import type { SessionRecord } from './record.ts'
import { createRedactor } from './redact-session.ts'
import { inSlices } from './slices.ts'
import { faultOf, isRecord } from './validate-record.ts'

/** The value of `format`. */
export const FORMAT = 'edgewise-session'
/** The version of the format. It changes when older pages could no longer read it. */
export const VERSION = 1
/** The maximum size of a file that is read, in bytes. */
export const MAX_FILE_BYTES = 20_000_000

/** The settings with which the session was recorded. Of headers and the token, only the names are known. */
export interface SessionSettings {
  readonly [name: string]: unknown
}

/** A session that was read from a file. */
export interface Session {
  readonly startedAt: Date
  readonly settings: SessionSettings
  readonly records: readonly SessionRecord[]
}

/** The secrets to redact. */
export interface KnownSecrets {
  /** Values that occur nowhere in the file. */
  readonly secrets: ReadonlySet<string>
  /** The ids of sessions. The file has names instead. */
  readonly sessionIds: ReadonlySet<string>
}

/** Writes a session as the text of a file. */
export async function writeSession(
  records: readonly SessionRecord[],
  settings: SessionSettings,
  { secrets, sessionIds }: KnownSecrets,
): Promise<string> {
  const redact = createRedactor(secrets, sessionIds)
  const start = Math.floor(inTenths(records[0]?.at ?? Date.now()))
  const head = {
    format: FORMAT,
    version: VERSION,
    startedAt: new Date(start).toISOString(),
    exportedAt: new Date().toISOString(),
    settings: redact(settings),
  }
  const beginning = JSON.stringify(head, null, 2).replace(/\n\}$/, ',\n  "records": [')
  let text = beginning
  await inSlices(records, (record) => {
    const at = inTenths(record.at - start)
    const line = JSON.stringify(redact({ ...record, at }))
    text += `${text === beginning ? '' : ','}\n    ${line}`
  })
  return `${text}\n  ]\n}\n`
}

/** Rounds milliseconds to tenths. */
function inTenths(ms: number): number {
  return Math.round(ms * 10) / 10
}

/**
 * Reads a session from a file.
 *
 * @throws {Error} If the file is too large, is not a session, has another version, or is damaged.
 */
export async function readSession(file: File): Promise<Session> {
  const fail = (reason: string): never => {
    throw new Error(`Cannot open "${file.name}": ${reason}`)
  }
  if (file.size > MAX_FILE_BYTES) {
    const limit = MAX_FILE_BYTES / 1_000_000
    fail(`it has ${Math.ceil(file.size / 1_000_000)} MB, and the limit is ${limit} MB`)
  }
  const value = tryParse(await file.text()) ?? fail('it is not JSON')
  if (!isObject(value) || value['format'] !== FORMAT) {
    const isHar = isObject(value) && isObject(value['log'])
    const kind = isHar ? 'a HAR file' : 'no session'
    return fail(`it is ${kind}. Choose a file that was exported from a timeline`)
  }
  const { version, startedAt, settings, records } = value
  if (version !== VERSION) {
    fail(`it has version ${JSON.stringify(version)} of the format, but this page reads ${VERSION}`)
  }
  const start = typeof startedAt === 'string' ? Date.parse(startedAt) : Number.NaN
  if (Number.isNaN(start)) fail('its "startedAt" is not a date')
  if (!Array.isArray(records)) return fail('its "records" is not an array')
  const checked: SessionRecord[] = []
  await inSlices(records.entries(), ([index, record]: [number, unknown]) => {
    if (!isRecord(record)) return fail(`record ${index + 1} is invalid: ${faultOf(record)}`)
    const at = record.at + start
    if (Number.isNaN(new Date(at).getTime())) return fail(`record ${index + 1} has no valid time`)
    checked.push({ ...record, at })
  })
  return {
    startedAt: new Date(start),
    settings: isObject(settings) ? settings : {},
    records: checked,
  }
}
