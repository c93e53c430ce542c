/**
 * Completers: they receive the other arguments directly instead of in a member of an object.
 */
import type ts from 'typescript'
import { Edits } from '../edits.ts'
import type { FileMigration } from '../file-migration.ts'
import { functionOf, isInlineFunction, referencesTo } from './syntax.ts'

/** The text of a completer, for the place that it is moved to. */
export function completerText(file: FileMigration, node: ts.Expression): string {
  const { ts, source } = file
  const text = file.text(node)
  const context = functionOf(file, node)?.parameters[1]
  if (!context) return text
  const adapter = `(value, context) => (${text})(value, { arguments: context })`
  if (!isInlineFunction(file, node) || context.type) return adapter
  const edits = new Edits()
  const start = node.getStart(source)
  for (const reference of referencesTo(file, context)) {
    const { parent } = reference
    if (!ts.isPropertyAccessExpression(parent) || parent.name.text !== 'arguments') return adapter
    edits.replace(parent.getStart(source) - start, parent.end - start, reference.text)
  }
  return edits.apply(text)
}
