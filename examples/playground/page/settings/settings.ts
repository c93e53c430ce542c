/**
 * The settings of a server. Secrets are stored until the browser tab is closed, everything else in this
 * browser.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Window/sessionStorage
 */
import { isObject, type LoggingLevel } from 'edgewise/browser'
import { withoutSecrets } from '../secrets.ts'
import { readStored, writeStored, type StorageArea } from '../storage.ts'

/** A header of every request. */
export interface Header {
  readonly name: string
  readonly value: string
}

/** Where to connect, and how. */
export interface Settings {
  /** The URL of an endpoint, or a domain that lists its server. */
  readonly url: string
  /** The revision to use, or `auto`. */
  readonly revision: string
  /** The timeout of requests, in milliseconds. By default it is that of the client. */
  readonly timeoutMs: number | undefined
  /** Headers of every request. Their values may be secrets. */
  readonly headers: readonly Header[]
  /** A bearer token, which replaces signing in; empty if there is none. */
  readonly token: string
  /** The minimum level of the log messages that the server sends. */
  readonly logLevel: LoggingLevel | 'off'
  /** The `file:` URIs of the directories that the server may work in. */
  readonly roots: readonly string[]
}

/** The settings that are stored until the browser tab is closed. */
type SecretSettings = Pick<Settings, 'headers' | 'token'>
/** The settings that are stored in this browser. */
type PlainSettings = Pick<Settings, 'timeoutMs' | 'logLevel' | 'roots'>

const KEY = 'edgewise settings'

/** Returns the settings of a server: what was stored for its address, or the defaults. */
export function settingsOf(url: string, revision: string): Settings {
  const {
    timeoutMs,
    logLevel = 'debug',
    roots = [],
  }: Partial<PlainSettings> = read('localStorage', url)
  const { headers = [], token = '' }: Partial<SecretSettings> = read('sessionStorage', url)
  return { url, revision, timeoutMs, logLevel, roots, headers, token }
}

/** Stores the settings of a server. */
export function storeSettings(settings: Settings): void {
  const { url, timeoutMs, logLevel, roots, headers, token } = settings
  write('localStorage', url, { timeoutMs, logLevel, roots })
  write('sessionStorage', url, { headers, token })
}

/** Whether other settings need a new connection. Another log level and other roots do not. */
export function needsReconnect(before: Settings, after: Settings): boolean {
  const relevant = ({ logLevel, roots, ...others }: Settings): string =>
    JSON.stringify([others, logLevel === 'off', roots.length > 0])
  return relevant(before) !== relevant(after)
}

function read(area: StorageArea, url: string): object {
  const stored = readAll(area)[withoutSecrets(url)]
  return isObject(stored) ? stored : {}
}

function write(area: StorageArea, url: string, value: object): void {
  writeStored(KEY, JSON.stringify({ ...readAll(area), [withoutSecrets(url)]: value }), area)
}

function readAll(area: StorageArea): Record<string, unknown> {
  try {
    const stored: unknown = JSON.parse(readStored(KEY, area) ?? '')
    return isObject(stored) ? stored : {}
  } catch {
    return {}
  }
}
