/**
 * The capabilities that a client must have declared before a server may send it a request.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
 */
import type {
  ClientCapabilities,
  CreateMessageParams,
  ElicitParams,
  InputRequest,
} from './types.ts'
import { ELICITATION, SAMPLING_TOOLS, URL_ELICITATION, supports } from './revision-features.ts'
import type { RevisionFacts } from './revisions.ts'

/**
 * The capabilities that a request to the client needs and the client did not declare, in the format in
 * which a client declares them; undefined if no capability is missing.
 */
export function missingCapabilities(
  request: InputRequest,
  declared: ClientCapabilities,
  revision: RevisionFacts,
): ClientCapabilities | undefined {
  const needed = neededCapabilities(request)
  return covers(declared, needed, revision) ? undefined : needed
}

/** The capabilities that a request to the client needs. */
function neededCapabilities(request: InputRequest): ClientCapabilities {
  if (request.method === 'roots/list') return { roots: {} }
  if (request.method === 'elicitation/create') {
    const { mode = 'form' } = (request.params ?? {}) as Partial<ElicitParams>
    return { elicitation: { [mode]: {} } }
  }
  const { tools, toolChoice } = (request.params ?? {}) as Partial<CreateMessageParams>
  return { sampling: tools || toolChoice ? { tools: {} } : {} }
}

/** Whether the declared capabilities include the needed ones, as far as the revision has them. */
function covers(
  declared: ClientCapabilities,
  needed: ClientCapabilities,
  revision: RevisionFacts,
): boolean {
  if (needed.roots) return Boolean(declared.roots)
  if (needed.sampling) {
    return Boolean(
      needed.sampling.tools
        ? supports(revision, SAMPLING_TOOLS) && declared.sampling?.tools
        : declared.sampling,
    )
  }
  const elicitation = declared.elicitation
  if (!elicitation || !supports(revision, ELICITATION)) return false
  const urlMode = supports(revision, URL_ELICITATION) && elicitation.url
  // A client that declares neither mode supports forms
  return needed.elicitation?.url ? Boolean(urlMode) : Boolean(elicitation.form) || !urlMode
}
