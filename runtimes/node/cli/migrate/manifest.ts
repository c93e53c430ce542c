/**
 * Migrates `package.json`: Edgewise replaces the packages of the old SDK.
 */
import { parse } from 'jsonc-parser'
import { removeMember, setMember } from '../hosts/json-text.ts'
import { sdkPackages } from './sdk-modules.ts'

/** The versions of zod whose schemas can be converted to JSON Schema. */
const ZOD_RANGE = '^4.2.0'

/** What determines the dependencies in a project's manifest. */
export interface ManifestNeeds {
  /** The packages of SDKs that some file of the project still needs. */
  readonly neededSdkPackages: ReadonlySet<string>
  /** The modules that migrated source files import and did not import before. */
  readonly addedModules: ReadonlySet<string>
  /** The version of Edgewise. */
  readonly version: string
  /** Whether Edgewise must be added even if the manifest has no package of an SDK. */
  readonly needsEdgewise: boolean
}

/** A migrated manifest. */
export interface MigratedManifest {
  readonly text: string
  /** What the developer should know. */
  readonly notes: readonly string[]
}

/** The members of a manifest that list packages. */
const GROUPS = [
  'dependencies',
  'devDependencies',
  'peerDependencies',
  'optionalDependencies',
] as const

/** Whether a range of versions begins with a version of zod before 4. */
function isBeforeZod4(range: string): boolean {
  return /^[\^~>=v]*[0-3](?:\.|$)/.test(range)
}

/** Migrates a manifest. Returns `undefined` if it needs no change. */
export function migrateManifest(
  text: string,
  { neededSdkPackages, addedModules, version, needsEdgewise }: ManifestNeeds,
): MigratedManifest | undefined {
  const manifest = (parse(text) ?? {}) as Partial<Record<string, Record<string, string>>>
  const groups = GROUPS.filter((group) => typeof manifest[group] === 'object')
  const groupOf = (name: string): string | undefined =>
    groups.find((group) => manifest[group]?.[name] !== undefined)
  const oldPackages = sdkPackages.filter((name) => groupOf(name) !== undefined)
  if (oldPackages.length === 0 && !needsEdgewise) return undefined
  const notes: string[] = []
  let result = text
  const set = (group: string, name: string, value: string): void => {
    result = setMember(result, [group, name], value)
  }
  const mainGroup = groupOf(oldPackages[0] ?? '') ?? 'dependencies'
  const zodGroup = groupOf('zod')
  const zodRange = zodGroup === undefined ? undefined : manifest[zodGroup]?.['zod']
  if (zodGroup === undefined) set(mainGroup, 'zod', ZOD_RANGE)
  else if (zodRange !== undefined && isBeforeZod4(zodRange)) {
    set(zodGroup, 'zod', ZOD_RANGE)
    notes.push(
      `zod ${zodRange} becomes ${ZOD_RANGE}: see https://zod.dev/v4/changelog for what changed`,
    )
  }
  set(mainGroup, 'edgewise', `^${version}`)
  // Apps of the SDK's companion packages become apps of these frameworks
  for (const [name, range] of Object.entries({ express: '^5.0.0', hono: '^4.0.0' })) {
    if (addedModules.has(name) && groupOf(name) === undefined) set(mainGroup, name, range)
  }
  for (const name of oldPackages) {
    const group = groupOf(name)
    if (group === undefined) continue
    if (neededSdkPackages.has(name))
      notes.push(`"${name}" remains, because some file still needs it`)
    else result = removeMember(result, [group, name])
  }
  return { text: result, notes }
}
