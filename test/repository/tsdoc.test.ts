import { readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join, relative } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { root } from '../root.ts'

/** What a user meets first, by entry. `test/package/docs.test.ts` compiles the examples. */
const FRONT_DOOR: Readonly<Record<string, readonly string[]>> = {
  './server': [
    ...['createServer', 'createHandler', 'serveTransport', 'authenticate', 'rateLimit'],
    ...['statefulSessions', 'sealedSessions', 'createGateway', 'uriTemplate'],
    'serverObserver',
  ],
  './server/tiny': ['createServer', 'createHandler'],
  './client': ['connect', 'createReconnectingClient', 'resultCache', 'clientObserver'],
  './client/tiny': ['connect'],
  './authorization': ['signIn', 'clientCredentials'],
  './protected-resource': ['protectedResource', 'jwtTokens', 'introspectedTokens'],
  './tasks': ['tasks', 'taskPolling', 'createTask'],
  './sqlite': ['SqlSessionStore', 'SqlTaskStore'],
  './postgres': ['createPostgresStorage'],
  './json-schema': ['jsonSchema', 'outputValidator'],
  './skills': ['skills', 'loadSkill'],
  './apps': ['appResource', 'appTool'],
  './toolset': ['toolFunctions', 'aiSdkTools'],
  './testing': ['connectInMemory', 'scriptedFetch', 'scriptedPeer'],
  './cloudflare': ['createWorker', 'bindingTransport'],
  './cloudflare/storage': ['objectStorage'],
  './node': ['serve', 'serveStdio', 'stdioClient', 'toNodeListener', 'loopback'],
  './deno': ['serve', 'serveStdio', 'stdioClient'],
  './bun': ['serve', 'serveStdio', 'stdioClient'],
  './browser': ['connect', 'createReconnectingClient', 'openPort', 'servePorts', 'popup'],
  './browser/tiny': ['connect'],
  './react': ['useMcp'],
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string>
}
const sources = Object.entries(manifest.exports)
  .filter(([, path]) => path.endsWith('.js'))
  .map(([entry, path]): [string, string] => [entry, path.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts')])
// Only comments matter, so neither runtime types nor the types of packages are needed
const options: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  allowImportingTsExtensions: true,
  noEmit: true,
  noLib: true,
  types: [],
}
const host = ts.createCompilerHost(options)
host.resolveModuleNameLiterals = (literals, importer) =>
  literals.map(({ text }) => ({ resolvedModule: sourceOf(text, importer) }))
const program = ts.createProgram(
  sources.map(([, file]) => join(root, file)),
  options,
  host,
)
const checker = program.getTypeChecker()

/** The source file that an import names; `undefined` for a package. */
function sourceOf(name: string, importer: string): ts.ResolvedModuleFull | undefined {
  if (!/^[.#]/.test(name)) return undefined
  const resolvedFileName = name.startsWith('#internal/')
    ? join(root, 'src', `${name.slice(1)}.ts`)
    : join(dirname(importer), name)
  return {
    resolvedFileName,
    extension: extname(name) === '.tsx' ? ts.Extension.Tsx : ts.Extension.Ts,
  }
}

/** The exports of the source of an entry, each as it is declared; a namespace as it is exported. */
function exportsOf(file: string): ts.Symbol[] {
  const source = program.getSourceFile(join(root, file))
  const module = source && checker.getSymbolAtLocation(source)
  if (!module) throw new Error(`Cannot read "${file}"`)
  return checker.getExportsOfModule(module).map((symbol) => {
    const isAlias = symbol.flags & ts.SymbolFlags.Alias
    const isNamespace = symbol.declarations?.some(ts.isNamespaceExport)
    return isAlias && !isNamespace ? checker.getAliasedSymbol(symbol) : symbol
  })
}

/** The description of an export. The compiler has none for a namespace, whose statement holds it. */
function summaryOf(symbol: ts.Symbol): string {
  const namespace = symbol.declarations?.find(ts.isNamespaceExport)
  const comments = namespace ? ts.getJSDocCommentsAndTags(namespace.parent) : []
  const texts = comments.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
  const own = ts.displayPartsToString(symbol.getDocumentationComment(checker))
  return [own, ...texts].join('\n').trim()
}

/** Every `@default` of the sources, with its file. */
function* defaults(): Generator<[file: string, value: string]> {
  for (const top of ['src', 'runtimes']) {
    for (const name of readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(name)) continue
      const source = readFileSync(join(root, top, name), 'utf8')
      for (const [, value = ''] of source.matchAll(/@default (.+?)(?: \*\/)?$/gm)) {
        yield [join(top, name), value]
      }
    }
  }
}

/** The name of an export, with the file that declares it. */
function nameOf(symbol: ts.Symbol): string {
  const declared = symbol.declarations?.[0]?.getSourceFile().fileName ?? ''
  return `${symbol.name} of ${relative(root, declared)}`
}

describe('The TSDoc of the public exports', () => {
  it.each(sources)('describes every export of "%s"', (_entry, file) => {
    const symbols = exportsOf(file)
    expect(symbols.length).toBeGreaterThan(0)
    expect(symbols.filter((symbol) => summaryOf(symbol) === '').map(nameOf)).toEqual([])
  })

  it.each(Object.entries(FRONT_DOOR))(
    'has an example of what users of "%s" meet first',
    (entry, names) => {
      const symbols = exportsOf(new Map(sources).get(entry) ?? '')
      const shown = symbols
        .filter((symbol) => symbol.getJsDocTags(checker).some(({ name }) => name === 'example'))
        .map(({ name }) => name)
      expect(shown).toEqual(expect.arrayContaining([...names]))
    },
  )

  it('states each default as a value', () => {
    const stated = [...defaults()]
    expect(stated.length).toBeGreaterThan(100)
    // A line each, because a program each takes long
    const lines = stated.map(([, value]) => `void (${value});`)
    const { diagnostics = [] } = ts.transpileModule(lines.join('\n'), { reportDiagnostics: true })
    const prose = diagnostics.map(({ file, start = 0 }) => {
      const { line = 0 } = file?.getLineAndCharacterOfPosition(start) ?? {}
      return stated[line]
    })
    expect(prose).toEqual([])
  })
})
