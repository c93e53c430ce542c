/**
 * The view of a prompt: its arguments and its messages.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
 */
import type { GetPromptResult, Prompt } from 'edgewise/browser'
import { titleOf } from '../catalog.ts'
import { contentBlock } from '../content.ts'
import { el } from '../dom.ts'
import { argumentForm, textsOf } from '../form/arguments.ts'
import type { Outcome } from '../run.ts'
import type { Workspace } from '../workspace.ts'
import { entryView } from './entry.ts'
import { suggestFor } from './suggest.ts'

/** Creates the view of a prompt. */
export function promptView(workspace: Workspace, prompt: Prompt): HTMLElement {
  const { name, description } = prompt
  const { element } = entryView(workspace, {
    kind: 'prompt',
    key: name,
    facts: { kind: 'Prompt', title: titleOf(prompt), name, description, definition: prompt },
    action: 'Get messages',
    form: argumentForm(prompt.arguments ?? [], suggestFor(workspace, { type: 'ref/prompt', name })),
    send: async (values, signal, _onProgress, timeoutMs) =>
      show(await workspace.client.getPrompt(name, textsOf(values), { signal, timeoutMs })),
  })
  return element
}

function show(result: GetPromptResult): Outcome {
  const nodes = result.messages.map(({ role, content }) =>
    el('div', { class: 'turn', 'data-role': role }, el('h2', {}, role), contentBlock(content)),
  )
  return { nodes, result }
}
