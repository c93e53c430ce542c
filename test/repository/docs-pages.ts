// The pages of the documentation: those in the root, those under `docs`, that of the Workers' runtime, and
// those of the example of a skill.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root.ts'

/** The pages, as paths from the root. */
export const pages: readonly string[] = [
  'AGENTS.md',
  'CHANGELOG.md',
  'CODE_OF_CONDUCT.md',
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
  'runtimes/cloudflare/README.md',
  'examples/skills/edgewise/SKILL.md',
  'examples/skills/edgewise/references/client.md',
  'examples/skills/edgewise/references/testing.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((path) => `docs/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.md') && !path.startsWith('docs/site/')),
]
