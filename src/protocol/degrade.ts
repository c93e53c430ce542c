import type { JsonObject } from './jsonrpc.ts'
import type { RevisionFacts } from './revisions.ts'
import type { Implementation, Result, ServerCapabilities } from './types.ts'
export function degradeResult(_m: string, r: Result, _r: RevisionFacts): Result {
  return r
}
export function degradeParams(
  _m: string,
  p: JsonObject | undefined,
  _r: RevisionFacts,
): JsonObject | undefined {
  return p
}
export function degradeImplementation(i: Implementation, _r: RevisionFacts): Implementation {
  return i
}
export function degradeServerCapabilities(
  c: ServerCapabilities,
  _r: RevisionFacts,
): ServerCapabilities {
  return c
}
