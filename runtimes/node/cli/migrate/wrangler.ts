/**
 * Migrates the configuration of Workers: adds the Durable Objects of Edgewise. The Durable Objects of `McpAgent`
 * remain, because their data may still be needed.
 *
 * @see https://developers.cloudflare.com/workers/wrangler/configuration/
 */
import { applyEdits, modify, parse, type JSONPath } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'

const BINDINGS = [
  { name: 'MCP_SESSION', class_name: 'McpSession' },
  { name: 'MCP_HUB', class_name: 'McpHub' },
] as const

const CLASSES = BINDINGS.map((binding) => binding.class_name)

/** The compatibility flag with which `ctx.signal` of a handler aborts when its client disconnects. */
const FLAG = 'enable_request_signal'

interface Configuration {
  readonly compatibility_flags?: readonly string[]
  readonly durable_objects?: { readonly bindings?: readonly { readonly class_name?: string }[] }
  readonly migrations?: readonly { readonly tag?: string }[]
}

/**
 * Returns the migrated configuration. Returns `undefined` if the configuration binds none of the subclasses, or already
 * binds the Durable Objects of Edgewise.
 *
 * @param classNames The names of the migrated subclasses of `McpAgent`.
 */
export function migrateWrangler(
  path: string,
  text: string,
  classNames: readonly string[],
): string | undefined {
  const isToml = path.endsWith('.toml')
  const configuration = (isToml ? parseToml(text) : (parse(text) ?? {})) as Configuration
  const bindings = configuration.durable_objects?.bindings ?? []
  const names = bindings.map((binding) => binding.class_name ?? '')
  if (!names.some((name) => classNames.includes(name)) || names.includes('McpSession'))
    return undefined
  const tag = nextTag(configuration)
  return isToml ? migrateToml(text, configuration, tag) : migrateJson(text, configuration, tag)
}

/** The first free tag for a migration of Durable Objects, such as `v3`. */
function nextTag({ migrations = [] }: Configuration): string {
  const tags = migrations.map(({ tag = '' }) => tag)
  let number = tags.length + 1
  while (tags.includes(`v${number}`)) number++
  return `v${number}`
}

function migrateJson(text: string, configuration: Configuration, tag: string): string {
  const indentation = /\n([ \t]+)"/.exec(text)?.[1] ?? '  '
  const insertSpaces = !indentation.includes('\t')
  const formattingOptions = { insertSpaces, tabSize: insertSpaces ? indentation.length : 1 }
  let result = text
  /** Adds a value to the array at a path. If the configuration has no `array` there, creates the array. */
  const append = (path: JSONPath, value: unknown, array: readonly unknown[] | undefined): void => {
    const edits = array
      ? modify(result, [...path, -1], value, { formattingOptions, isArrayInsertion: true })
      : modify(result, path, [value], { formattingOptions })
    result = applyEdits(result, edits)
  }
  const { migrations, compatibility_flags: flags, durable_objects: objects } = configuration
  for (const binding of BINDINGS)
    append(['durable_objects', 'bindings'], binding, objects?.bindings)
  append(['migrations'], { tag, new_sqlite_classes: CLASSES }, migrations)
  if (!flags?.includes(FLAG)) append(['compatibility_flags'], FLAG, flags)
  return result
}

function migrateToml(
  text: string,
  { compatibility_flags: flags }: Configuration,
  tag: string,
): string {
  const tables = BINDINGS.map(
    ({ name, class_name: className }) =>
      `\n[[durable_objects.bindings]]\nname = "${name}"\nclass_name = "${className}"\n`,
  )
  const list = CLASSES.map((name) => `"${name}"`).join(', ')
  const migration = `\n[[migrations]]\ntag = "${tag}"\nnew_sqlite_classes = [${list}]\n`
  const withFlag = flags?.includes(FLAG) ? text : addFlag(text, flags)
  const end = withFlag.endsWith('\n') ? '' : '\n'
  return withFlag + end + tables.join('') + migration
}

function addFlag(text: string, flags: readonly string[] | undefined): string {
  const list = [...(flags ?? []), FLAG].map((flag) => `"${flag}"`).join(', ')
  const line = `compatibility_flags = [${list}]`
  if (flags) return text.replace(/^compatibility_flags\s*=\s*\[[^\]]*\]/m, line)
  return text.replace(/^compatibility_date.*$/m, (date) => `${date}\n${line}`)
}
