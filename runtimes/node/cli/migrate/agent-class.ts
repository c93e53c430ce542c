/**
 * Turns subclasses of Cloudflare's `McpAgent` into modules. `McpAgent` creates an object for each session, whereas
 * Edgewise needs only one server for all sessions. This step runs first, and all other steps then migrate the module.
 */
import type ts from 'typescript'
import { migrateServing, replaceServe, WORKER, type ServingSources } from './agent-serve.ts'
import { parseSource, type Compiler } from './compiler.ts'
import { Edits } from './edits.ts'
import { formatMark } from './guide.ts'
import type { ProjectFiles } from './project-files.ts'

/** What becomes of a source file with a subclass of `McpAgent`. */
export interface ConvertedAgent {
  /** The new texts of the source file, and of other source files that serve the class, by their paths. */
  readonly texts: ReadonlyMap<string, string>
  /** The name of the class whose objects the Worker no longer creates. */
  readonly className: string
  /** The type of the environment; empty if the class does not have one. */
  readonly environment: string
}

/**
 * Turns the class in a source file into a module.
 *
 * @returns `undefined` if there is no such class, or `'unsupported'` if it must be migrated by hand.
 */
export function convertAgent(
  compiler: Compiler,
  project: ProjectFiles,
  path: string,
  text: string,
): ConvertedAgent | 'unsupported' | undefined {
  const source = parseSource(compiler, path, text)
  const classes = source.statements.filter((each) => isAgent(compiler, each))
  const [agent] = classes
  if (!agent || !compiler.isClassDeclaration(agent)) return undefined
  if (classes.length > 1 || !agent.name) return 'unsupported'
  const className = agent.name.text
  const module = new AgentModule(compiler, source, agent, className)
  const body = module.bodyText()
  if (body === undefined) return 'unsupported'
  const serving = migrateServing(compiler, project, path, className)
  const texts = new Map([...serving.texts, [path, module.moduleText(body, serving)]])
  return { texts, className, environment: module.environment }
}

/** Whether a statement declares a subclass of `McpAgent`. */
function isAgent(compiler: Compiler, node: ts.Statement): boolean {
  if (!compiler.isClassDeclaration(node)) return false
  const baseClass = node.heritageClauses?.[0]?.types[0]?.expression
  if (!baseClass || !compiler.isIdentifier(baseClass)) return false
  return baseClass.text === 'McpAgent'
}

class AgentModule {
  readonly #ts: Compiler
  readonly #source: ts.SourceFile
  readonly #class: ts.ClassDeclaration
  readonly #className: string
  readonly #edits = new Edits()
  /** The names of the members that become declarations of the module. Includes `server`, which may be inherited. */
  readonly #memberNames = new Set(['server'])

  constructor(
    compiler: Compiler,
    source: ts.SourceFile,
    node: ts.ClassDeclaration,
    className: string,
  ) {
    this.#ts = compiler
    this.#source = source
    this.#class = node
    this.#className = className
  }

  /** The type of the environment; empty if the class does not have one. */
  get environment(): string {
    const source = this.#source
    const type = this.#class.heritageClauses?.[0]?.types[0]?.typeArguments?.[0]
    if (!type) {
      const isTyped = /\.[cm]?tsx?$/.test(source.fileName)
      // Without a type argument, the class has the default environment, which `wrangler types` declares
      return isTyped && /\bthis\.env\b/.test(this.#class.getText(source)) ? 'Cloudflare.Env' : ''
    }
    const text = type.getText(source)
    return ['unknown', 'any', '{}'].includes(text) ? '' : text
  }

  /** The type argument for the environment; empty if the environment has no type. */
  get #typeArgument(): string {
    return this.environment === '' ? '' : `<${this.environment}>`
  }

  /** The statements that replace the class; `undefined` if a member of the class is not supported. */
  bodyText(): string | undefined {
    for (const { name } of this.#class.members) {
      if (name && this.#ts.isIdentifier(name)) this.#memberNames.add(name.text)
    }
    const statements: string[] = []
    for (const member of this.#class.members) {
      const statement = this.#memberText(member)
      if (statement === undefined) return undefined
      statements.push(statement)
    }
    return statements.filter((each) => each !== '').join('\n\n')
  }

  /** The text of the whole source file. */
  moduleText(body: string, serving: ServingSources): string {
    this.#edits.replace(this.#class.getStart(this.#source), this.#class.end, body)
    this.#addWorker(serving)
    return this.#edits.apply(this.#source.text)
  }

  /** The statements that replace a member; `undefined` if the member is not supported. */
  #memberText(member: ts.ClassElement): string | undefined {
    const ts = this.#ts
    const { name } = member
    if (!name || !ts.isIdentifier(name)) return undefined
    const modifiers = ts.canHaveModifiers(member) ? (ts.getModifiers(member) ?? []) : []
    const areSupported = modifiers.every(({ kind }) =>
      [
        ts.SyntaxKind.AsyncKeyword,
        ts.SyntaxKind.PublicKeyword,
        ts.SyntaxKind.PrivateKeyword,
        ts.SyntaxKind.ReadonlyKeyword,
        ts.SyntaxKind.OverrideKeyword,
      ].includes(kind),
    )
    if (!areSupported) return undefined
    const comments = this.#commentsOf(member)
    if (ts.isPropertyDeclaration(member)) {
      const text = this.#propertyText(member, name.text)
      return text === undefined ? undefined : comments + text
    }
    if (!ts.isMethodDeclaration(member) || !member.body) return undefined
    if (name.text === 'init') return this.#initText(member.body)
    const isAsync = modifiers.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword)
    const span = { start: name.getStart(this.#source), end: member.end }
    return `${comments}${isAsync ? 'async ' : ''}function ${this.#textOf(span, 1)}`
  }

  /** The declaration that replaces a property; `undefined` if the property is not supported. */
  #propertyText(member: ts.PropertyDeclaration, name: string): string | undefined {
    const { initializer, type } = member
    const source = this.#source
    if (name === 'initialState') {
      const mark = formatMark(
        'The state belonged to a session: store it for a user, in an object of your own',
        'state',
      )
      return `// ${mark}\n// ${this.#textOf({ start: member.getStart(source), end: member.end }, 1).replaceAll('\n', '\n// ')}`
    }
    const value = initializer
      ? ` = ${this.#textOf({ start: initializer.getStart(source), end: initializer.end }, 1)}`
      : ''
    const semicolon = source.text[member.end - 1] === ';' ? ';' : ''
    if (name === 'server') {
      // Another value, such as the result of a function that wraps the server, is not supported
      if (!/^ = new McpServer\b/.test(value)) return undefined
      return `const server${value.replace(/^ = new McpServer\b/, `$&${this.#typeArgument}`)}${semicolon}`
    }
    const annotation = type ? `: ${type.getText(source)}` : ''
    if (initializer && this.#ts.isArrowFunction(initializer)) {
      return `const ${name}${annotation}${value}${semicolon}`
    }
    const mark = formatMark('All callers share this variable', 'sharedState')
    return `// ${mark}\nlet ${name}${annotation}${value}${semicolon}`
  }

  /** The statements of `init`; `undefined` if one of them is a return statement. */
  #initText(body: ts.Block): string | undefined {
    const [firstStatement] = body.statements
    const lastStatement = body.statements.at(-1)
    if (!firstStatement || !lastStatement) return ''
    const hasReturn = body.statements.some((each) => this.#ts.isReturnStatement(each))
    if (hasReturn) return undefined
    return this.#textOf({ start: firstStatement.getFullStart(), end: lastStatement.end }, 2).trim()
  }

  #commentsOf(member: ts.ClassElement): string {
    const { text } = this.#source
    const comments = text.slice(member.getFullStart(), member.getStart(this.#source)).trim()
    return comments === '' ? '' : `${comments.replaceAll(/\n[ \t]+/g, '\n')}\n`
  }

  /**
   * The text of a range of the class, with `name` in place of `this.name`.
   *
   * @param levels How many levels of indentation are removed.
   */
  #textOf({ start, end }: { start: number; end: number }, levels: number): string {
    const ts = this.#ts
    const source = this.#source
    const edits = new Edits()
    const unit = this.#indentation()
    const templates: [start: number, end: number][] = []
    const visit = (node: ts.Node): void => {
      if (node.end <= start || node.getStart(source) >= end) return
      if (ts.isTemplateLiteral(node)) templates.push([node.getStart(source), node.end])
      const isMember =
        ts.isPropertyAccessExpression(node) && node.expression.kind === ts.SyntaxKind.ThisKeyword
      if (isMember && this.#memberNames.has(node.name.text) && node.name.text !== 'initialState') {
        edits.replace(node.getStart(source) - start, node.name.getStart(source) - start, '')
      }
      ts.forEachChild(node, visit)
    }
    visit(this.#class)
    const text = source.text.slice(start, end)
    const indentation = new RegExp(String.raw`^(?:${unit}){0,${levels}}`)
    for (const { index } of text.matchAll(/\n/g)) {
      const position = index + 1
      const isInTemplate = templates.some(
        ([from, to]) => start + position > from && start + position < to,
      )
      const removed = indentation.exec(text.slice(position))?.[0].length ?? 0
      if (!isInTemplate && removed > 0) edits.replace(position, position + removed, '')
    }
    return edits.apply(text)
  }

  /** One level of indentation, which is the indentation of the first member. */
  #indentation(): string {
    const [firstMember] = this.#class.members
    const before = firstMember ? this.#source.text.slice(0, firstMember.getStart(this.#source)) : ''
    const indentation = /[ \t]*$/.exec(before)?.[0] ?? ''
    return indentation === '' ? '  ' : indentation
  }

  /** Adds the Worker, in place of `Class.serve(…)`, and the exports that a Worker needs. */
  #addWorker(serving: ServingSources): void {
    const source = this.#source
    const edits = this.#edits
    const { options, statement } = replaceServe(this.#ts, source, edits, this.#className)
    const semicolon = /;\s*$/.test(source.statements[0]?.getText(source) ?? '') ? ';' : ''
    const members = [...new Set([...options, ...serving.options])]
    const optionsText = members.length === 0 ? '' : `, { ${members.join(', ')} }`
    const typeArgument = this.#typeArgument
    const declaration = `const ${WORKER} = createWorker${typeArgument}(server${optionsText})${semicolon}\n`
    const isServedElsewhere = serving.texts.size > 0
    const prefix = isServedElsewhere ? 'export ' : ''
    if (statement) edits.insert(statement.getStart(source), prefix + declaration)
    const mark = formatMark(
      'Delete this class, with a migration in the configuration, when the data of its objects is no longer needed',
      'wrangler',
    )
    edits.insert(
      statement?.end ?? source.text.trimEnd().length,
      [
        ...(statement ? [''] : ['', '', prefix + declaration.trimEnd()]),
        ...(statement || isServedElsewhere ? [] : [`export default ${WORKER}${semicolon}`]),
        `export const { McpSession, McpHub } = ${WORKER}.durableObjects${semicolon}`,
        '',
        `// ${mark}`,
        `export class ${this.#className} extends DurableObject${typeArgument} {}`,
      ].join('\n'),
    )
  }
}
