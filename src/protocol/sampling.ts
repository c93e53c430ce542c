/**
 * Checks the rules of a sampling conversation, on clients and on servers.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#sampling-with-tools
 */
import type { CreateMessageParams, CreateMessageResult, JsonObject } from './types.ts'
import { isObject } from './validate.ts'

const UNMATCHED = 'The next message must answer every tool use, and nothing else'

/**
 * Why the params of `sampling/createMessage` are invalid. Tool results must be alone in a user message,
 * and must answer exactly the tool uses of the previous message. `undefined` if the params are valid.
 */
export function samplingFault({
  messages,
  maxTokens,
  modelPreferences,
}: JsonObject): string | undefined {
  if (!Array.isArray(messages)) return '"messages" must be an array'
  if (typeof maxTokens !== 'number') return '"maxTokens" must be a number'
  const arePrioritiesInRange = Object.entries(modelPreferences ?? {}).every(
    ([name, value = 0]) => !name.endsWith('Priority') || (Number(value) >= 0 && Number(value) <= 1),
  )
  if (!arePrioritiesInRange) return 'Priorities must be between 0 and 1'
  let unanswered: unknown[] = []
  for (const message of messages) {
    if (!isObject(message)) return 'A message must be an object'
    const { role, content } = message
    const blocks = (Array.isArray(content) ? content : [content]).filter(isObject)
    const results = blocks.filter((block) => block.type === 'tool_result')
    if (results.length > 0 && (role !== 'user' || results.length < blocks.length)) {
      return 'Tool results must stand alone in a user message'
    }
    const answered = new Set(results.map((block) => block.toolUseId))
    if (answered.size !== unanswered.length || !unanswered.every((id) => answered.has(id))) {
      return UNMATCHED
    }
    const toolUses = role === 'assistant' ? blocks.filter((block) => block.type === 'tool_use') : []
    unanswered = toolUses.map((block) => block.id)
  }
  return unanswered.length > 0 ? UNMATCHED : undefined
}

/** Why a result violates the tool choice of its request; `undefined` if it does not. */
export function toolChoiceFault(
  { toolChoice }: CreateMessageParams,
  { content }: CreateMessageResult,
): string | undefined {
  const usesTools = [content].flat().some(({ type }) => type === 'tool_use')
  const { mode } = toolChoice ?? {}
  const isViolated = mode === 'required' ? !usesTools : mode === 'none' && usesTools
  return isViolated ? `The response must ${mode === 'none' ? 'not ' : ''}use tools` : undefined
}
