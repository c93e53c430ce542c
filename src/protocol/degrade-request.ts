/**
 * Adapts server-to-client requests to the client's revision.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */
import { mapMember, without } from './copy.ts'
import { degradeTool } from './degrade.ts'
import { degradeMessages } from './degrade-content.ts'
import { degradeForm } from './degrade-form.ts'
import { degradeMeta } from './degrade-meta.ts'
import { RICH_FORMS, SAMPLING_TOOLS, URL_ELICITATION, supports } from './revision-features.ts'
import type { RevisionFacts } from './revisions.ts'
import type { CreateMessageParams, ObjectSchema, JsonObject } from './types.ts'
import { isObject } from './validate.ts'

/** Adapts the params of a server-to-client request; returns the same object if nothing changes. */
export function degradeRequest(
  method: string,
  params: JsonObject | undefined,
  revision: RevisionFacts,
): JsonObject | undefined {
  if (!params) return params
  const degraded = degradeMeta(params, revision)
  if (method === 'elicitation/create') return degradeElicitParams(degraded, revision)
  return method === 'sampling/createMessage' ? degradeSamplingParams(degraded, revision) : degraded
}

function degradeElicitParams(params: JsonObject, revision: RevisionFacts): JsonObject {
  if (revision.era === 'modern') return without(params, ['elicitationId', 'task'])
  if (supports(revision, URL_ELICITATION) && supports(revision, RICH_FORMS)) return params
  const { requestedSchema, ...degraded } = without(params, ['mode', 'task'])
  return isObject(requestedSchema)
    ? { ...degraded, requestedSchema: degradeForm(requestedSchema as ObjectSchema) }
    : degraded
}

function degradeSamplingParams(params: JsonObject, revision: RevisionFacts): JsonObject {
  if (revision.tasks === 'core') return params
  const degraded = without(params, ['task']) as JsonObject & Partial<CreateMessageParams>
  if (supports(revision, SAMPLING_TOOLS))
    return mapMember(degraded, 'tools', (tool) => degradeTool(tool, revision))
  return {
    ...without(degraded, ['tools', 'toolChoice']),
    messages: degradeMessages(degraded.messages ?? [], revision),
  }
}
