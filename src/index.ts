/**
 * The protocol itself: its messages, revisions and errors.
 *
 * @module
 */
export { isContentBlock, isResourceContents } from './protocol/content.ts'
export * from './protocol/errors.ts'
export * from './protocol/jsonrpc.ts'
export * from './protocol/meta.ts'
export * from './protocol/types.ts'
export { findMethod, type MethodFacts } from './protocol/methods.ts'
export { findRevision, revisions, type Revision, type RevisionFacts } from './protocol/revisions.ts'
export { isObject, validateMessage } from './protocol/validate.ts'
export type {
  InferInput,
  InferOutput,
  SchemaIssue,
  SchemaResult,
  StandardSchema,
} from './protocol/standard-schema.ts'
export { expandUriTemplate, type UriTemplateValues } from './server/uri-expand.ts'
export { compileUriTemplate, type UriTemplate, type UriVariables } from './server/uri-template.ts'
