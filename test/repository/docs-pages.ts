// The pages of the documentation: those in the root, those under `docs`, and that of the Workers' runtime.
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
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path.replaceAll('\\', '/')}`),
]
