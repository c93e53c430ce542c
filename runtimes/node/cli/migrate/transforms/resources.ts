/**
 * Migrates the registrations of resources and resource templates: `registerResource`, and the older `resource`.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import { completerText } from './completers.ts'
import { addHandler } from './handlers.ts'
import { addMembers, membersOf, objectLiteralOf, renameMember, unwrap, valueOf } from './syntax.ts'
import { oneLine, type MethodCall } from './tools.ts'

/** Migrates `registerResource(name, uri, config, read)` and `resource(name, uri, config?, read)`. */
export function migrateResource(file: FileMigration, call: MethodCall): void {
  const { source, edits } = file
  const [name, uri, ...rest] = call.arguments
  const read = rest.pop()
  if (!name || !uri || !read) return
  const [config] = rest
  file.setDone(call.expression)
  const isTemplate = file.sdkTypeOf(uri) === 'ResourceTemplate'
  file.replace(call.expression.name, isTemplate ? 'resourceTemplate' : 'resource')
  const template = isTemplate ? migrateTemplate(file, uri) : undefined
  const nameText = file.text(name)
  const members = [
    nameText === 'name' ? 'name' : `name: ${file.migratedText(name)}`,
    ...(template?.members ?? []),
  ]
  const uriText = template?.text ?? file.migratedText(uri)
  const options = `{ ${members.join(', ')} }`
  edits.replace(name.getStart(source), uri.end, config ? uriText : `${uriText}, ${options}`)
  if (config) {
    const literal = objectLiteralOf(file, config)
    const meta = literal && membersOf(file, literal).get('_meta')
    if (meta) renameMember(file, meta, 'meta')
    if (literal && unwrap(file, config) === literal) addMembers(file, literal, members)
    else file.replace(config, `{ ${members.join(', ')}, ...${file.migratedText(config)} }`)
  }
  const hasInput = false
  addHandler(file, isTemplate ? 'template' : 'resource', hasInput, read)
}

interface MigratedTemplate {
  /** The expression for the template. */
  readonly text: string
  /** The options of the template that become options of the registration. */
  readonly members: readonly string[]
}

/** Migrates `new ResourceTemplate(…)`, which may be the value of a constant. */
function migrateTemplate(file: FileMigration, node: ts.Expression): MigratedTemplate {
  const { ts } = file
  const inner = unwrap(file, node)
  const declaration = ts.isIdentifier(inner) ? file.declarationOf(inner) : undefined
  const initializer =
    declaration && ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined
  // The expression that creates the template
  const created = initializer && declaration?.getSourceFile() === file.source ? initializer : inner
  if (!ts.isNewExpression(created)) return { text: file.text(node), members: [] }
  const [template, callbacks] = created.arguments ?? []
  if (!template) return { text: file.text(node), members: [] }
  const text = `${file.importName('edgewise/server', 'uriTemplate')}(${file.migratedText(template)})`
  if (created !== inner && !file.isDone(created)) file.replace(created, text)
  return {
    text: created === inner ? text : file.text(node),
    members: callbacks ? completeOption(file, callbacks) : [],
  }
}

/** Converts the callbacks of a template to the option `complete` of the registration. Marks the callback `list`. */
function completeOption(file: FileMigration, callbacks: ts.Expression): string[] {
  const { ts } = file
  const literal = unwrap(file, callbacks)
  if (!ts.isObjectLiteralExpression(literal)) {
    file.mark(callbacks, 'list', `Move "complete" to the options of the template`)
    return []
  }
  const members = membersOf(file, literal)
  const list = valueOf(file, members.get('list')) ?? members.get('list')
  if (list && file.text(list) !== 'undefined') {
    file.mark(
      literal.parent.parent,
      'list',
      `Templates do not list resources. Register each resource, or list them for each caller, as this did: ${oneLine(file.text(list))}`,
    )
  }
  const complete = valueOf(file, members.get('complete'))
  if (!complete) return []
  const completers = unwrap(file, complete)
  if (!ts.isObjectLiteralExpression(completers)) return [`complete: ${file.migratedText(complete)}`]
  const texts = [...membersOf(file, completers)].flatMap(([name, member]) => {
    const value = valueOf(file, member)
    return value ? [`${name}: ${completerText(file, value)}`] : [file.text(member)]
  })
  return texts.length === 0 ? [] : [`complete: { ${texts.join(', ')} }`]
}
