// Writes the API reference as pages of the site, one for each entry point.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application } from 'typedoc'
import options from '../../.typedoc.mjs'
import { pagesFolder, root } from './pages.mjs'

process.chdir(root)
const out = join(pagesFolder, 'reference')
rmSync(out, { recursive: true, force: true })

const app = await Application.bootstrapWithPlugins({
  ...options,
  plugin: [...options.plugin, fileURLToPath(import.meta.resolve('typedoc-plugin-markdown'))],
  tsconfig: join(root, options.tsconfig),
  out,
  router: 'module',
  entryFileName: 'index',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  expandParameters: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  propertyMembersFormat: 'table',
  tableColumnSettings: { hideInherited: true, hideSources: true, hideModifiers: true },
})
const project = await app.convert()
if (!project) process.exit(1)
await app.generateOutputs(project)
