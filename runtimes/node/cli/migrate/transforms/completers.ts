/**
 * Migrates completers. In Edgewise, their second parameter is an object with the other arguments. In the old SDK, it was
 * an object with the member `arguments`.
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
  const accesses: ts.Expression[] = []
  for (const { parent } of referencesTo(file, context)) {
    if (!ts.isPropertyAccessExpression(parent) || parent.name.text !== 'arguments') return adapter
    accesses.push(parent)
  }
  for (const access of accesses) file.replace(access, file.text(context.name))
  return text
}
