/**
 * The view of a tool: its form and the results of its calls.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
import type { CallToolResult, Tool } from 'edgewise/browser'
import type { DetailedTask } from 'edgewise/tasks'
import { titleOf } from '../catalog.ts'
import { contentBlock } from '../content.ts'
import { el } from '../dom.ts'
import { schemaForm } from '../form/form.ts'
import { jsonBlock, tryParse } from '../json.ts'
import { runPanel, type Outcome } from '../run.ts'
import type { Workspace } from '../workspace.ts'
import { actionForm, fold, frame } from './frame.ts'

/** Creates the view of a tool. */
export function toolView(workspace: Workspace, tool: Tool): HTMLElement {
  const form = schemaForm(tool.inputSchema)
  const panel = runPanel()
  const submit = (): Promise<void> =>
    panel.run(async (signal, onProgress) => {
      let task: DetailedTask | undefined
      const result = await workspace.client.callTool(tool.name, form.read(), {
        signal,
        onProgress(progress) {
          task = workspace.connection?.tasks.get(progress.progressToken)
          onProgress(progress)
        },
      })
      return show(result, task)
    })
  return frame(
    {
      kind: 'Tool',
      title: titleOf(tool),
      name: tool.name,
      description: tool.description,
      chips: hints(tool),
      definition: tool,
    },
    actionForm('Run', [form.element], submit, form.toggle),
    panel.element,
  )
}

function hints({ annotations = {} }: Tool): string[] {
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations
  if (readOnlyHint) return ['read only']
  return [...(destructiveHint ? ['destructive'] : []), ...(idempotentHint ? ['idempotent'] : [])]
}

function show(result: CallToolResult, task: DetailedTask | undefined): Outcome {
  const { content, structuredContent, isError } = result
  const nodes: Node[] = []
  if (structuredContent === undefined) nodes.push(...content.map(contentBlock))
  else {
    // The text next to structured content usually repeats it, for clients that do not support it
    const same = JSON.stringify(structuredContent)
    const others = content.filter(
      (block) => block.type !== 'text' || JSON.stringify(tryParse(block.text)) !== same,
    )
    nodes.push(...others.map(contentBlock))
    nodes.push(el('h2', { class: 'label' }, 'Structured content'), jsonBlock(structuredContent))
  }
  if (nodes.length === 0) nodes.push(el('p', { class: 'empty' }, 'The result is empty.'))
  nodes.push(fold('Whole result', result))
  if (task) nodes.push(fold('Task', task))
  return { nodes, failed: isError === true }
}
