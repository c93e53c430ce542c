// The ids that titles name, and the tables that define them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root.ts'

/** The id of a rule wherever it stands, and that of a report in brackets, as it may be anything else. */
const NAMED = /\b[A-Z]-[A-Z]+-\d{3}\b|(?<=\[)[A-Z]\d{3}(?=\])/g

/** The first cell of a row. */
const DEFINED = /(?<=^\| )[A-Z](?:-[A-Z]+-)?\d{3}(?= \|)/gm

/** The ids that a source text names. */
export function namedIn(text: string): string[] {
  return text.match(NAMED) ?? []
}

/** The ids that the rows of a Markdown text define. */
export function definedIn(text: string): string[] {
  return text.match(DEFINED) ?? []
}

/** The ids that tests and the conformance suite name, each with the files that do. */
export function namedIds(): Map<string, string[]> {
  const named = new Map<string, string[]>()
  for (const file of [...filesIn('test', '.ts'), ...filesIn('conformance', '.ts')]) {
    for (const id of new Set(namedIn(read(file)))) named.set(id, [...(named.get(id) ?? []), file])
  }
  return named
}

/** The ids that the tables of this folder define, as often as they do. */
export function definedIds(): string[] {
  return filesIn('test/spec', '.md').flatMap((file) => definedIn(read(file)))
}

function filesIn(folder: string, extension: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(extension) && !file.includes('node_modules'))
    .map((file) => `${folder}/${file}`)
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
