/**
 * The facts about handlers that the transforms share.
 */
import type ts from 'typescript'

/** What is known about the handler of a tool, a prompt or a resource. */
export interface Handler {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'template'
  /** Whether the first parameter of the handler is the input. */
  readonly hasInput: boolean
  readonly node: ts.FunctionLikeDeclaration
  /** The parameter for the context of the old SDK. */
  readonly context: ts.ParameterDeclaration | undefined
  /**
   * Whether migrated code in the handler uses the context, so that the handler must have the
   * parameter.
   */
  needsContext: boolean
}
