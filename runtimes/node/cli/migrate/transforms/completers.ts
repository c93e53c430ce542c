/**
 * Migrates completers, which are functions that suggest values for an argument. In the old SDK, the other arguments were the member `arguments` of a completer's second
 * parameter. In Edgewise, the second parameter itself is an object with the other arguments.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import { functionOf, isInlineFunction, referencesTo } from './syntax.ts'

/** Migrates a completer that is moved elsewhere. Returns its new text. */
export function completerText(file: FileMigration, node: ts.Expression): string {
  const { ts } = file
  const text = file.migratedText(node)
  const context = functionOf(file, node)?.parameters[1]
  if (!context) return text
  const adapter = `(value, context) => (${text})(value, { arguments: context })`
  if (!isInlineFunction(file, node) || context.type) return adapter
  // The adapter is not needed if the code uses nothing but `context.arguments`
  const accesses: ts.Expression[] = []
  for (const { parent } of referencesTo(file, context)) {
    if (!ts.isPropertyAccessExpression(parent) || parent.name.text !== 'arguments') return adapter
    accesses.push(parent)
  }
  for (const access of accesses) file.replace(access, file.text(context.name))
  return text
}
