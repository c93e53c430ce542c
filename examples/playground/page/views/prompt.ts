/**
 * The view of a prompt: its arguments and its messages.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
 */
import type { GetPromptResult, Prompt } from 'edgewise/browser'
import { titleOf } from '../catalog.ts'
import { contentBlock } from '../content.ts'
import { el } from '../dom.ts'
import { argumentForm } from '../form/arguments.ts'
import { runPanel, type Outcome } from '../run.ts'
import type { Workspace } from '../workspace.ts'
import { actionForm, fold, frame } from './frame.ts'
import { suggestFor } from './suggest.ts'

/** Creates the view of a prompt. */
export function promptView(workspace: Workspace, prompt: Prompt): HTMLElement {
  const ref = { type: 'ref/prompt' as const, name: prompt.name }
  const form = argumentForm(prompt.arguments ?? [], suggestFor(workspace, ref))
  const panel = runPanel()
  const get = (): Promise<void> =>
    panel.run(async (signal) =>
      show(await workspace.client.getPrompt(prompt.name, form.read(), { signal })),
    )
  return frame(
    {
      kind: 'Prompt',
      title: titleOf(prompt),
      name: prompt.name,
      description: prompt.description,
      definition: prompt,
    },
    actionForm('Get messages', [form.element], get),
    panel.element,
  )
}

function show(result: GetPromptResult): Outcome {
  const nodes = result.messages.map(({ role, content }) =>
    el('div', { class: 'turn', 'data-role': role }, el('h2', {}, role), contentBlock(content)),
  )
  return { nodes: [...nodes, fold('Whole result', result)] }
}
