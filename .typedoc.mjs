// The API reference, with the names by which users import each entry point: https://typedoc.org/options
import { readFileSync } from 'node:fs'
import { Converter, ReflectionKind } from 'typedoc'

const { exports } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))

/** The entry points, in the order of package.json. */
export const entries = Object.entries(exports)
  .filter(([, path]) => path.endsWith('.js'))
  .map(([entry, path]) => ({
    name: `edgewise${entry.slice(1)}`,
    file: path.replace('./dist/', '').replace(/\.js$/, '.ts'),
  }))

export default {
  name: 'Edgewise',
  entryPoints: entries.map(({ file }) => file),
  plugin: [nameEntries],
  out: 'dist/reference',
  tsconfig: '.typedoc.tsconfig.json',
  readme: 'none',
  sortEntryPoints: false,
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  requiredToBeDocumented: ['Class', 'Enum', 'Function', 'Interface', 'TypeAlias', 'Variable'],
  validation: { notDocumented: true, notExported: false, invalidLink: true },
  treatValidationWarningsAsErrors: true,
  skipErrorChecking: true,
  disableSources: true,
}

/** Names each entry point as users import it, instead of by its file. */
function nameEntries({ converter }) {
  converter.on(Converter.EVENT_CREATE_DECLARATION, (_, reflection) => {
    if (!reflection.kindOf(ReflectionKind.Module)) return
    const entry = entries.find(
      ({ file }) => file.replace(/(?:\/index)?\.ts$/, '') === reflection.name,
    )
    if (entry) reflection.name = entry.name
  })
}
