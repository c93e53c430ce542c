/**
 * The revisions of extensions that are not Stable yet: each side declares the newest revision that it
 * supports as `revision` in its settings.
 *
 * @see https://modelcontextprotocol.io/seps/3392-extension-lifecycle
 */
import { isObject } from './validate.ts'

/** The first revision of an extension, which has no name. */
export const FIRST_REVISION = ''

/**
 * The revision of an extension that both sides support; `undefined` if the peer does not declare the
 * extension, or declares a revision that is unknown here. A peer that names no revision means the first
 * revision.
 *
 * @param settings The settings that the peer declares.
 * @param revisions The revisions that are supported here; `false` if the extension has no revisions, so that
 *   the peer's `revision` is ignored. By default, only the first revision is supported.
 */
export function negotiateRevision(
  settings: unknown,
  revisions: readonly string[] | false = [FIRST_REVISION],
): string | undefined {
  if (!isObject(settings)) return undefined
  const { revision = FIRST_REVISION } = settings
  return revisions ? revisions.find((known) => known === revision) : FIRST_REVISION
}

/** Adds the newest supported revision, which is the first of `revisions`, to the settings to declare. */
export function withRevision<Settings extends object>(
  settings: Settings,
  revisions: readonly string[] | false = [],
): Settings & { revision?: string } {
  const [revision] = revisions || []
  return revision ? { ...settings, revision } : settings
}
