/**
 * Handlers, as transforms describe them to each other.
 */
import type ts from 'typescript'

/** What transforms know of a handler of a tool, a prompt or a resource. */
export interface Handler {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'template'
  /** Whether its first parameter is the arguments. */
  readonly hasInput: boolean
  readonly node: ts.FunctionLikeDeclaration
  /** The parameter that is the context in the old SDK. */
  readonly context: ts.ParameterDeclaration | undefined
  /** Whether code that was moved to the context needs one. */
  needsContext: boolean
}
