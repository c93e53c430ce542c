/**
 * The names of the options of `connect`, so that misspelled options are detected.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { OptionNames } from '../patterns/known-options.ts'
import type { BaseConnectOptions } from './options.ts'

/**
 * The names of the options that `connect` has in every entry point (`edgewise/client` and
 * `edgewise/client/tiny`), in the format that {@link OptionNames} describes.
 */
export const BASE_OPTION_NAMES: OptionNames<BaseConnectOptions> = {
  fetch: 1,
  headers: 1,
  auth: 1,
  maxMessageLength: 1,
  info: 1,
  revision: 1,
  discovery: 1,
  fallback: 1,
  capabilities: 1,
  extensions: 1,
  sendInfo: 1,
  timeoutMs: 1,
  maxTimeoutMs: 1,
  maxRounds: 1,
  maxPages: 1,
  observe: 1,
  signal: 1,
  approve: 1,
  onLog: 1,
  onNotification: 1,
  onError: 1,
}
