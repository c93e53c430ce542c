/**
 * Migrates the registrations of tools: `registerTool`, and the older `tool` with its many forms.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import type { GuideSection } from '../guide.ts'
import { addHandler, removeResultType } from './handlers.ts'
import { migrateSchema, schemaKindOf } from './schemas.ts'
import {
  membersOf,
  objectLiteralOf,
  removeMembers,
  renameMember,
  unwrap,
  valueOf,
} from './syntax.ts'

/** A call of a method. */
export type MethodCall = ts.CallExpression & { readonly expression: ts.PropertyAccessExpression }

/** The names of a tool's annotations. An object with other members is a shape: the members of an object schema. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  'title',
  'readOnlyHint',
  'destructiveHint',
  'idempotentHint',
  'openWorldHint',
])

/** The members of a tool's configuration that have the same name in Edgewise. */
const SAME_NAMES: ReadonlySet<string> = new Set(['title', 'description', 'annotations', 'icons'])

/** Migrates `registerTool(name, config, handler)`. */
export function migrateRegisterTool(file: FileMigration, call: MethodCall): void {
  const advice = 'Rename "inputSchema" to "input" and "outputSchema" to "output"'
  const registration = renameRegistration(file, call, 'tool', { section: 'server', advice })
  if (!registration) return
  const { name, literal, handler } = registration
  const hasInput = migrateConfig(file, literal, `the tool ${file.text(name)}`)
  if (membersOf(file, literal).has('outputSchema')) removeResultType(file, handler)
  addHandler(file, 'tool', hasInput, handler)
}

/** The parts of a registration: the name, the configuration and the handler. */
interface Registration {
  name: ts.Expression
  literal: ts.ObjectLiteralExpression
  handler: ts.Expression
}

/**
 * Renames the method that a registration calls. Returns the parts of the registration. If its configuration is not an
 * object literal, marks the configuration with the advice, and returns `undefined`.
 */
export function renameRegistration(
  file: FileMigration,
  call: MethodCall,
  method: string,
  { section, advice }: { section: GuideSection; advice: string },
): Registration | undefined {
  const [name, config, handler] = call.arguments
  if (!name || !config || !handler) return undefined
  file.replace(call.expression.name, method)
  file.setDone(call.expression)
  const literal = objectLiteralOf(file, config)
  if (literal) return { name, literal, handler }
  file.giveUp(config, section, advice)
  return undefined
}

/**
 * Migrates the configuration of a tool. Returns whether the tool has an input.
 *
 * @param owner The tool, for the texts of marks.
 */
function migrateConfig(
  file: FileMigration,
  literal: ts.ObjectLiteralExpression,
  owner: string,
): boolean {
  const { ts } = file
  let hasInput = false
  const removed: ts.ObjectLiteralElementLike[] = []
  for (const [name, member] of membersOf(file, literal)) {
    const value = valueOf(file, member)
    if (name === 'inputSchema' || name === 'outputSchema') {
      const isUndefined = value && ts.isIdentifier(value) && value.text === 'undefined'
      if (isUndefined) {
        removed.push(member)
        continue
      }
      renameMember(file, member, name === 'inputSchema' ? 'input' : 'output')
      if (value) migrateSchema(file, value, owner)
      if (name === 'inputSchema') hasInput = true
    } else if (name === '_meta') {
      renameMember(file, member, 'meta')
    } else if (!SAME_NAMES.has(name)) {
      file.mark(
        member,
        'handlers',
        `Tools have no option "${name}". The option was: ${oneLine(file.text(member))}`,
      )
      removed.push(member)
    }
  }
  if (removed.length > 0) removeMembers(file, literal, removed)
  return hasInput
}

/** Text on one line, for a comment. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}

/** A registration with one of the older methods, which take all options as separate arguments. */
interface PositionalRegistration {
  readonly name: ts.Expression
  /** The description, if there is one. The caller adds the options that it finds in `rest`. */
  readonly options: [name: string, node: ts.Expression][]
  /** The arguments between the description and the handler. */
  readonly rest: readonly ts.Expression[]
  readonly handler: ts.Expression
}

/** Reads the arguments `name, description?, …, handler`. */
export function readPositional(
  file: FileMigration,
  call: MethodCall,
): PositionalRegistration | undefined {
  const [name, ...rest] = call.arguments
  const handler = rest.pop()
  if (!name || !handler) return undefined
  file.setDone(call.expression)
  const options: [name: string, node: ts.Expression][] = []
  if (rest[0] && isString(file, rest[0]))
    options.push(['description', rest.shift() as ts.Expression])
  return { name, options, rest, handler }
}

/** Migrates `tool(name, description?, shape?, annotations?, handler)`. */
export function migrateTool(file: FileMigration, call: MethodCall): void {
  const { ts } = file
  const registration = readPositional(file, call)
  if (!registration) return
  const { name, options, handler } = registration
  const [shapeOrAnnotations, annotations] = registration.rest
  const isShape =
    annotations !== undefined || (shapeOrAnnotations && !isAnnotations(shapeOrAnnotations))
  if (shapeOrAnnotations && isShape) {
    if (schemaKindOf(file, shapeOrAnnotations) === 'unknown') {
      file.mark(shapeOrAnnotations, 'server', 'Check whether this is a shape or annotations')
    }
    options.push(['input', shapeOrAnnotations])
  } else if (shapeOrAnnotations) {
    options.push(['annotations', shapeOrAnnotations])
  }
  if (annotations) options.push(['annotations', annotations])
  addOptions(file, name, options, `the tool ${file.text(name)}`)
  addHandler(
    file,
    'tool',
    options.some(([option]) => option === 'input'),
    handler,
  )

  function isAnnotations(node: ts.Expression): boolean {
    const literal = unwrap(file, node)
    if (!ts.isObjectLiteralExpression(literal)) return false
    const names = [...membersOf(file, literal).keys()]
    return names.length > 0 && names.every((each) => ANNOTATIONS.has(each))
  }
}

/**
 * Turns the positional arguments after the name into an object with options.
 *
 * @param owner The tool or prompt that is registered, for the texts of marks.
 * @param complete The value of the option `complete` of a prompt.
 */
export function addOptions(
  file: FileMigration,
  name: ts.Expression,
  options: readonly (readonly [name: string, node: ts.Expression])[],
  owner: string,
  complete?: string,
): void {
  const { ts } = file
  const closing = complete === undefined ? ' }' : `, complete: ${complete} }`
  if (options.length === 0) file.insertAfter(name, ', {}')
  for (const [index, [option, node]] of options.entries()) {
    const isShorthand = ts.isIdentifier(node) && node.text === option
    const prefix = isShorthand ? '' : `${option}: `
    file.insertBefore(node, index === 0 ? `{ ${prefix}` : prefix)
    if (option === 'input') migrateSchema(file, node, owner)
    if (index === options.length - 1) file.insertAfter(node, closing)
  }
}

/** Whether an expression is a string. */
function isString({ ts, checker }: FileMigration, node: ts.Expression): boolean {
  return (checker.getTypeAtLocation(node).flags & ts.TypeFlags.StringLike) !== 0
}
