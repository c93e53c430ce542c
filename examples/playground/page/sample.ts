/**
 * Shows the user a server's request to a model. The playground has no model, so the user answers instead.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#user-interaction-model
 */
import {
  SdkError,
  type ContentBlock,
  type CreateMessageParams,
  type CreateMessageResult,
  type InputContext,
} from 'edgewise/browser'
import { contentBlock } from './content.ts'
import { inTurn, showDialog } from './dialog.ts'
import { el } from './dom.ts'
import { schemaForm } from './form/form.ts'
import { jsonBlock } from './json.ts'

const note = '“Decline” answers with an error, as if the model were not available.'

/**
 * Asks the user for the model's answer, after all earlier questions are answered.
 *
 * @throws {SdkError} `DENIED` if the user declines.
 */
export function sample(
  params: CreateMessageParams,
  context: InputContext,
): Promise<CreateMessageResult> {
  return inTurn(() => askForAnswer(params, context))
}

async function askForAnswer(
  { messages, systemPrompt, maxTokens }: CreateMessageParams,
  context: InputContext,
): Promise<CreateMessageResult> {
  const form = schemaForm({
    type: 'object',
    properties: {
      answer: {
        type: 'string',
        title: 'Answer of the model',
        description: `At most ${maxTokens} tokens, about ${maxTokens * 4} characters.`,
        maxLength: maxTokens * 4,
      },
    },
    required: ['answer'],
  })
  const conversation = el(
    'ol',
    { class: 'conversation', 'aria-label': 'Conversation' },
    systemPrompt !== undefined && message('system', [block({ type: 'text', text: systemPrompt })]),
    ...messages.map(({ role, content }) => message(role, [content].flat().map(block))),
  )
  const action = await showDialog(
    {
      title: 'The server requests a model’s answer',
      message: 'The playground has no model. Write the answer of the model.',
      content: [conversation, form.element],
      accept: 'Send answer',
      note,
      canCancel: false,
    },
    context,
  )
  if (action !== 'accept') throw new SdkError('DENIED', 'You declined to let a model answer')
  const text = String(form.read()['answer'] ?? '')
  return {
    role: 'assistant',
    content: { type: 'text', text },
    model: 'playground-user',
    stopReason: 'endTurn',
  }
}

function message(role: string, blocks: readonly HTMLElement[]): HTMLElement {
  return el('li', { class: 'turn', 'data-role': role }, el('h3', {}, role), ...blocks)
}

function block(content: { type: string; text?: string }): HTMLElement {
  const isKnown = ['text', 'image', 'audio'].includes(content.type)
  return isKnown ? contentBlock(content as ContentBlock) : jsonBlock(content)
}
