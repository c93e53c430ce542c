/** The migration of one source file: its changes, and the names that it must import. */
import type ts from 'typescript'
import type { ConvertedAgent } from './agent-class.ts'
import type { Compiler } from './compiler.ts'
import { Edits, rangePlaceholder } from './edits.ts'
import type { GuideSection } from './guide.ts'
import type { Handler } from './handler.ts'
import { indentationAt, lineStart } from './lines.ts'
import { Marks } from './marks.ts'
import { declaresName, importedName, outermostChain } from './names.ts'
import type { Sources } from './project-files.ts'
import type { SdkName } from './sdk-modules.ts'

/** The name of a function that is added to the source file. Its calls replace code without an equivalent. */
export const NOT_MIGRATED = 'notMigrated'

/** The migration of one source file. */
export class FileMigration {
  /** The TypeScript compiler. It is called `ts`, because the types of `typescript` have the same prefix. */
  readonly ts: Compiler
  readonly checker: ts.TypeChecker
  readonly source: ts.SourceFile
  readonly path: string
  /** The runtime of the project, such as `node`. The functions that serve a server are imported from `edgewise/<runtime>`. */
  readonly runtime: string
  /** The changes of the source file. */
  readonly edits: Edits = new Edits()
  /** The handlers in the source file, by their functions. */
  readonly handlers: Map<ts.Node, Handler> = new Map()
  /** The handlers of tools that are declared apart from their registration. */
  readonly declaredHandlers: Set<ts.FunctionLikeDeclaration> = new Set()
  /** The names to import, with their local names, by module. */
  readonly imports: Map<string, Map<string, string>> = new Map()
  /** The migrations of all source files, including this one. */
  readonly migrations: ReadonlyMap<ts.SourceFile, FileMigration>
  /** The subclass of `McpAgent` that was turned into this module, if any. Handlers may still use its members. */
  readonly agent: ConvertedAgent | undefined
  /** Whether the source file calls {@link NOT_MIGRATED}. */
  usesNotMigrated = false
  readonly #sources: Sources
  /** The nodes that later steps ignore. */
  readonly #done = new Set<ts.Node>()
  readonly #marks: Marks

  constructor(
    ts: Compiler,
    sources: Sources,
    path: string,
    source: ts.SourceFile,
    runtime: string,
    migrations: ReadonlyMap<ts.SourceFile, FileMigration>,
    agent: ConvertedAgent | undefined,
  ) {
    this.ts = ts
    this.#sources = sources
    this.checker = sources.checker
    this.path = path
    this.source = source
    this.runtime = runtime
    this.migrations = migrations
    this.agent = agent
    this.#marks = new Marks(ts, source, path)
  }

  /**
   * The migration of the source file that contains a node; `undefined` if a file of an SDK contains the node.
   */
  migrationOf(node: ts.Node): FileMigration | undefined {
    return this.migrations.get(node.getSourceFile())
  }

  /** Whether the source file may have type annotations. */
  get isTyped(): boolean {
    return /\.[cm]?tsx?$/.test(this.path)
  }

  /** The text of a node, without the comments before it. */
  text(node: ts.Node): string {
    return node.getText(this.source)
  }

  /**
   * Returns the text of a node for use in the new text of a change. It is a placeholder, which is later replaced with
   * the text of the node, including the changes in the node.
   */
  migratedText(node: ts.Node): string {
    return rangePlaceholder(node.getStart(this.source), node.end)
  }

  /** Replaces a node. */
  replace(node: ts.Node, text: string): void {
    this.edits.replace(node.getStart(this.source), node.end, text)
  }

  /** Inserts text before a node. */
  insertBefore(node: ts.Node, text: string): void {
    this.edits.insert(node.getStart(this.source), text)
  }

  /** Inserts text after a node. */
  insertAfter(node: ts.Node, text: string): void {
    this.edits.insert(node.end, text)
  }

  /** Removes a node, and its line if nothing else is on it. */
  remove(node: ts.Node): void {
    this.#removeFrom(node.getStart(this.source), node)
  }

  /** Removes a statement, and the comments directly before it. */
  removeWithComments(node: ts.Node): void {
    const { text } = this.source
    const comments = this.ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []
    let start = node.getStart(this.source)
    for (const { pos, end } of comments.toReversed()) {
      // A comment that is separated by an empty line may not be about this statement
      if (/\n[ \t]*\n/.test(text.slice(end, start))) break
      start = pos
    }
    this.#removeFrom(start, node)
  }

  /** Removes the text from a position to the end of a node. */
  #removeFrom(position: number, node: ts.Node): void {
    const { text } = this.source
    let [start, end] = [position, node.end]
    if (text[end] === ',') end++
    const startOfLine = lineStart(text, start)
    const newline = text.indexOf('\n', end)
    const lineEnd = newline === -1 ? text.length : newline
    const isAlone =
      text.slice(startOfLine, start).trim() === '' && text.slice(end, lineEnd).trim() === ''
    if (isAlone) {
      start = startOfLine
      end = Math.min(lineEnd + 1, text.length)
      // If the node is between two empty lines, one of them is removed too
      if (/\n[ \t]*\n$/.test(text.slice(0, start))) {
        end += /^[ \t]*\n/.exec(text.slice(end))?.[0].length ?? 0
      }
    }
    this.edits.replace(start, end, '')
  }

  /** Records that a node was migrated, or needs no change, so that later steps ignore it. */
  setDone(node: ts.Node): void {
    this.#done.add(node)
  }

  /** Whether a node was migrated, or belongs to code that was replaced. */
  isDone(node: ts.Node): boolean {
    return this.#done.has(node) || this.edits.covers(node.getStart(this.source), node.end)
  }

  /**
   * Adds a mark, which is a `TODO` comment for the developer, on the line before a node.
   *
   * @param section The section of the documentation that the mark refers to.
   */
  mark(node: ts.Node, section: GuideSection, message: string): void {
    this.#marks.add(node, section, message)
  }

  /**
   * Marks code without an equivalent, and removes the code so that the program stays valid. A statement becomes a
   * comment. Any other expression becomes a call that throws, together with the members and calls that follow it.
   */
  giveUp(node: ts.Expression, section: GuideSection, message: string): void {
    const { ts } = this
    const target = outermostChain(ts, node)
    let outer: ts.Node = target
    while (ts.isAwaitExpression(outer.parent) || ts.isParenthesizedExpression(outer.parent)) {
      outer = outer.parent
    }
    const { parent } = outer
    const isAssigned =
      ts.isBinaryExpression(parent) &&
      parent.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
      parent.left === outer
    if (isAssigned || ts.isVoidExpression(outer.parent)) outer = outer.parent
    this.setDone(node)
    const statement = outer.parent
    if (ts.isExpressionStatement(statement) && this.#canBeComment(statement)) {
      this.mark(statement, section, message)
      this.replace(statement, this.#commentOut(statement))
      return
    }
    const replaced = isAssigned ? outer : target
    this.mark(replaced, section, message)
    this.usesNotMigrated = true
    const code = this.text(replaced).replaceAll(/\s+/g, ' ')
    this.replace(replaced, `${NOT_MIGRATED}(${this.quote(code)})`)
  }

  /** Converts the text of a statement to a comment. */
  #commentOut(statement: ts.Node): string {
    const indentation = indentationAt(this.source.text, statement.getStart(this.source))
    const [firstLine = '', ...others] = this.text(statement).split('\n')
    const lines = others.map((line) => {
      const rest = line.startsWith(indentation) ? line.slice(indentation.length) : line
      return `${indentation}// ${rest}`.trimEnd()
    })
    return [`// ${firstLine}`, ...lines].join('\n')
  }

  /** Creates a string literal, with the kind of quotes that the source file uses. */
  quote(value: string): string {
    const firstImport = this.source.statements.find((each) => this.ts.isImportDeclaration(each))
    const isSingle = firstImport === undefined || firstImport.getText(this.source).includes("'")
    if (!isSingle) return JSON.stringify(value)
    return `'${value.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
  }

  /**
   * Returns the local name of an export, and adds an import of the export if there is none.
   *
   * @param name The name of the export. Precede it with `type`, `default` or `* as` for these forms of an import.
   */
  importName(module: string, name: string): string {
    const bare = name.replace(/^(?:type |default |\* as )/, '')
    const imported = importedName(this.ts, this.source, module, bare)
    if (imported !== undefined) return imported
    const names = this.imports.get(module) ?? new Map<string, string>()
    this.imports.set(module, names)
    let local = names.get(name)
    if (local === undefined) {
      const prefix = /^[A-Z]/.test(bare) ? 'Edgewise' : 'edgewise'
      const capitalized = bare.charAt(0).toUpperCase() + bare.slice(1)
      local = declaresName(this.ts, this.source, bare) ? prefix + capitalized : bare
      names.set(name, local)
    }
    return local
  }

  /** The symbol that a name refers to. For an imported name, this is the symbol in the module that declares it. */
  symbolOf(node: ts.Node): ts.Symbol | undefined {
    const { ts, checker } = this
    const parent = node.parent as ts.Node | undefined
    const symbol =
      parent && ts.isShorthandPropertyAssignment(parent)
        ? checker.getShorthandAssignmentValueSymbol(parent)
        : checker.getSymbolAtLocation(node)
    if (!symbol) return undefined
    return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  }

  /** The declaration of the value or type that an expression refers to. */
  declarationOf(node: ts.Node): ts.Declaration | undefined {
    return this.symbolOf(node)?.declarations?.[0]
  }

  /** The name that an SDK gives to the type of an expression; `undefined` for all other types. */
  sdkTypeOf(node: ts.Node): string | undefined {
    const type = this.checker.getNonNullableType(this.checker.getTypeAtLocation(node))
    const symbol = type.aliasSymbol ?? type.getSymbol()
    const declaration = symbol?.declarations?.[0]
    return declaration && this.#sources.sdkOf(declaration) ? symbol?.name : undefined
  }

  /** The SDK and the original name of an imported name; `undefined` for all other names. */
  sdkNameOf(node: ts.Node): { sdk: SdkName; name: string } | undefined {
    const symbol = this.symbolOf(node)
    const declaration = symbol?.declarations?.[0]
    const sdk = declaration && this.#sources.sdkOf(declaration)
    return sdk && symbol ? { sdk, name: symbol.name } : undefined
  }

  /** Inserts the marks into the source file, except those in code that was replaced. */
  insertMarks(): void {
    this.#marks.insertInto(this.edits)
  }

  /** Whether a statement can become a comment: nothing else is on its lines, and its block may become empty. */
  #canBeComment(statement: ts.Node): boolean {
    const { ts, source } = this
    const { parent } = statement
    const isInBlock =
      ts.isBlock(parent) || ts.isSourceFile(parent) || ts.isCaseOrDefaultClause(parent)
    const start = statement.getStart(source)
    const lineEnd = source.text.indexOf('\n', statement.end)
    const rest = source.text.slice(statement.end, lineEnd === -1 ? undefined : lineEnd).trim()
    const beginsLine = source.text.slice(lineStart(source.text, start), start).trim() === ''
    return isInBlock && beginsLine && (rest === '' || rest.startsWith('//'))
  }
}
