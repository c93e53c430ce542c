// Counts the exports of the package's entries, and fails beyond the limits below: lower them whenever
// fewer names are left.
//   node .ci/exports.mjs            a table, an entry a line
//   node .ci/exports.mjs --names    every name, with where it is declared and which entries export it
//   node .ci/exports.mjs --unused   the names that no example uses
import { readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import ts from 'typescript'

/** The maximum number of declarations that entries export, except the protocol's own types. */
const MAX_NAMES = 300
/** The maximum number that no code of the README, a guide, an example or an `@example` uses. */
const MAX_UNUSED = 0
/** The maximum number that share a name with a declaration of another entry. */
const MAX_AMBIGUOUS = 0

/** The file of the protocol's own types. */
const PROTOCOL = 'src/protocol/types.ts'

/** An application imports only one of these entries, so each may declare the same name. */
const alternatives = [
  ['./server', './server/tiny'],
  ['./client', './client/tiny', './browser', './browser/tiny'],
  ['./node', './deno', './bun', './cloudflare'],
]

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const entries = Object.entries(manifest.exports)
  .filter(([, path]) => path.endsWith('.js'))
  .map(([entry, path]) => [entry, path.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts')])

const program = ts.createProgram(
  entries.map(([, file]) => file),
  {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    // Only names matter, so no runtime types are needed.
    noLib: true,
    types: [],
  },
)
const checker = program.getTypeChecker()

/** The exports of the entries: one item per name and declaration. */
const exported = new Map()
for (const [entry, file] of entries) {
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  if (!module) throw new Error(`Cannot read "${file}", the source of the entry "${entry}"`)
  for (const symbol of checker.getExportsOfModule(module)) {
    const isAlias = symbol.flags & ts.SymbolFlags.Alias
    const target = isAlias ? checker.getAliasedSymbol(symbol) : symbol
    const [declaration] = target.declarations ?? []
    if (!declaration) throw new Error(`"${entry}" exports "${symbol.name}", which nothing declares`)
    const declared = declaration.getSourceFile()
    const path = relative('.', declared.fileName)
    const { line } = declared.getLineAndCharacterOfPosition(declaration.getStart())
    const where = `${path}:${line + 1}`
    const key = `${symbol.name} ${where}`
    const isType = !(target.flags & ts.SymbolFlags.Value)
    const item = exported.get(key) ?? { name: symbol.name, path, where, isType, entries: [] }
    item.entries.push(entry)
    exported.set(key, item)
  }
}

const all = [...exported.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
const names = all.filter(({ path }) => path !== PROTOCOL)
const ambiguous = all.filter((item) => {
  const others = all.filter((other) => other.name === item.name)
  return others.length > 1 && !areAlternatives(others.flatMap((other) => other.entries))
})
const used = new Set([...examples()].flatMap(namesUsedBy))
const unused = names.filter(({ name }) => !used.has(name))

if (process.argv.includes('--names')) print(names)
else if (process.argv.includes('--unused')) print(unused)
else printTable()

const isWithin = [
  check('exported names, besides the protocol’s types', names.length, MAX_NAMES),
  check('of them that no guide or example uses', unused.length, MAX_UNUSED),
  check('declarations of names that mean different things', ambiguous.length, MAX_AMBIGUOUS),
]
print(ambiguous, '       ')
if (isWithin.includes(false)) process.exitCode = 1

/** Whether an application never uses two of these entries together. */
function areAlternatives(chosen) {
  return alternatives.some((group) => chosen.every((entry) => group.includes(entry)))
}

/** The code that users learn from: the examples, the code in Markdown, and every `@example`. */
function* examples() {
  for (const file of [...filesIn('docs', /\.md$/), ...filesIn('examples', /\.md$/), 'README.md']) {
    yield* fencedIn(read(file))
  }
  for (const file of filesIn('examples', /\.(tsx?|js)$/)) yield read(file)
  for (const file of filesIn('examples', /\.html$/)) {
    for (const [, code] of read(file).matchAll(/<script\b[^>]*>([^]*?)<\/script>/g)) yield code
  }
  for (const file of [...filesIn('src', /\.tsx?$/), ...filesIn('runtimes', /\.tsx?$/)]) {
    for (const [comment] of read(file).matchAll(/\/\*\*[^]*?\*\//g)) {
      for (const [example] of comment.matchAll(/@example[^]*?(?=\n *\* @|$)/g)) {
        yield* fencedIn(example.replaceAll(/^ *\* ?/gm, ''))
      }
    }
  }
}

/** The code blocks of a text that contain programs. */
function* fencedIn(text) {
  for (const [, , code] of text.matchAll(/^ *(```+)(?:tsx?|jsx?)\b.*\n([^]*?)^ *\1/gm)) yield code
}

/** The names that code imports from an entry. */
function namesUsedBy(code) {
  const source = ts.createSourceFile('example.tsx', code, ts.ScriptTarget.Latest, true)
  return source.statements.flatMap((statement) => {
    const isExport = ts.isExportDeclaration(statement)
    if (!isExport && !ts.isImportDeclaration(statement)) return []
    if (!/^edgewise(\/|$)/.test(statement.moduleSpecifier?.text ?? '')) return []
    const bindings = isExport ? statement.exportClause : statement.importClause?.namedBindings
    return (bindings?.elements ?? []).map(({ name, propertyName = name }) => propertyName.text)
  })
}

function filesIn(folder, pattern) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name) && !/(^|\/)(node_modules|dist|site\/pages)\//.test(name))
    .map((name) => `${folder}/${name}`)
}

function read(file) {
  return readFileSync(file, 'utf8')
}

function print(items, indent = '') {
  for (const { name, where, entries: exporting } of items) {
    console.log(`${indent}${name.padEnd(32)} ${where.padEnd(48)} ${exporting.join(' ')}`)
  }
}

function printTable() {
  console.log(`${'entry'.padEnd(24)} values  types  protocol’s`)
  for (const [entry] of entries) {
    const own = names.filter((item) => item.entries.includes(entry))
    const types = own.filter(({ isType }) => isType).length
    const protocol = all.filter((item) => item.entries.includes(entry)).length - own.length
    const counts = [own.length - types, types, protocol]
    console.log(`${entry.padEnd(24)} ${counts.map((count) => String(count).padStart(6)).join(' ')}`)
  }
}

/** Prints a count and returns whether it is within its limit. */
function check(what, count, max) {
  console.log(`${count > max ? 'OVER' : 'ok  '} ${String(count).padStart(4)} of ${max} ${what}`)
  return count <= max
}
