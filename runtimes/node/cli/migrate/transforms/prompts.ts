/**
 * Migrates the registrations of prompts: `registerPrompt`, and the older `prompt`.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import { completerText } from './completers.ts'
import { addHandler } from './handlers.ts'
import { migrateSchema, schemaKindOf } from './schemas.ts'
import { membersOf, renameMember, unwrap, valueOf } from './syntax.ts'
import { addOptions, readPositional, renameRegistration, type MethodCall } from './tools.ts'

/** Migrates `registerPrompt(name, config, handler)`. */
export function migrateRegisterPrompt(file: FileMigration, call: MethodCall): void {
  const advice = 'Rename "argsSchema" to "input"'
  const registration = renameRegistration(file, call, 'prompt', { section: 'handlers', advice })
  if (!registration) return
  const { name, literal, handler } = registration
  const members = membersOf(file, literal)
  const meta = members.get('_meta')
  if (meta) renameMember(file, meta, 'meta')
  const schema = members.get('argsSchema')
  const shape = valueOf(file, schema)
  if (schema) renameMember(file, schema, 'input')
  if (shape) {
    migrateSchema(file, shape, `the prompt ${file.text(name)}`)
    const complete = moveCompleters(file, shape)
    if (complete !== undefined) file.insertAfter(shape, `, complete: ${complete}`)
  }
  addHandler(file, 'prompt', shape !== undefined, handler)
}

/** Migrates `prompt(name, description?, shape?, handler)`. */
export function migratePrompt(file: FileMigration, call: MethodCall): void {
  const registration = readPositional(file, call)
  if (!registration) return
  const { name, options, handler } = registration
  const [shape] = registration.rest
  const complete = shape && moveCompleters(file, shape)
  if (shape) options.push(['input', shape])
  addOptions(file, name, options, `the prompt ${file.text(name)}`, complete)
  addHandler(file, 'prompt', shape !== undefined, handler)
}

/**
 * Replaces `completable(schema, complete)` with the schema, in a shape: an object with the members of a schema.
 *
 * @returns The option `complete`; `undefined` if no argument is completed.
 */
function moveCompleters(file: FileMigration, node: ts.Expression): string | undefined {
  const { ts } = file
  const literal = shapeOf(file, unwrap(file, node))
  if (!literal) return undefined
  const completers: string[] = []
  for (const [name, member] of membersOf(file, literal)) {
    const value = valueOf(file, member)
    if (!value || !ts.isCallExpression(value)) continue
    if (file.sdkNameOf(value.expression)?.name !== 'completable') continue
    const [schema, complete] = value.arguments
    if (!schema || !complete) continue
    file.edits.replace(value.getStart(file.source), schema.getStart(file.source), '')
    file.edits.replace(schema.end, value.end, '')
    completers.push(`${name}: ${completerText(file, complete)}`)
  }
  return completers.length === 0 ? undefined : `{ ${completers.join(', ')} }`
}

/** Finds the literal with the members of a schema. It may be the value of a constant in the same source file. */
function shapeOf(file: FileMigration, node: ts.Expression): ts.ObjectLiteralExpression | undefined {
  const { ts } = file
  if (ts.isObjectLiteralExpression(node)) return node
  if (ts.isCallExpression(node)) {
    const [shape] = node.arguments
    const isObject = schemaKindOf(file, node) === 'object'
    return isObject && shape && ts.isObjectLiteralExpression(shape) ? shape : undefined
  }
  const declaration = ts.isIdentifier(node) ? file.declarationOf(node) : undefined
  if (!declaration || !ts.isVariableDeclaration(declaration) || !declaration.initializer) {
    return undefined
  }
  if (declaration.getSourceFile() !== file.source) return undefined
  return shapeOf(file, unwrap(file, declaration.initializer))
}
