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
import type { Outcome } from '../run.ts'
import { valueBlock } from '../text.ts'
import type { Workspace } from '../workspace.ts'
import { entryView } from './entry.ts'

/** Creates the view of a tool. */
export function toolView(workspace: Workspace, tool: Tool): HTMLElement {
  const { name, description, inputSchema, outputSchema } = tool
  const form = schemaForm(inputSchema)
  const banner = el('div')
  void showProblems(tool, banner)
  const { element } = entryView(workspace, {
    kind: 'tool',
    key: name,
    facts: {
      kind: 'Tool',
      title: titleOf(tool),
      name,
      description,
      chips: hints(tool),
      definition: tool,
    },
    action: 'Run',
    form,
    schema: inputSchema,
    banner,
    async send(values, signal, onProgress, timeoutMs) {
      let task: DetailedTask | undefined
      const result = await workspace.client.callTool(name, values, {
        signal,
        timeoutMs,
        onProgress(progress) {
          task = workspace.connection?.tasks.get(progress.progressToken)
          onProgress(progress)
        },
      })
      const outcome = show(result, task)
      if (!outputSchema || result.isError) return outcome
      const { outputProblem } = await import('../output-check.ts')
      const problem = outputProblem(outputSchema, result)
      if (problem !== undefined) workspace.timeline.notice('warning', problem, name)
      return { ...outcome, problem }
    },
    extras: [form.toggle],
  })
  return element
}

/** Shows what is wrong with the schemas of a tool. The code for that is loaded on demand. */
async function showProblems(tool: Tool, place: HTMLElement): Promise<void> {
  const { schemaBanner } = await import('../schema-problems.ts')
  const banner = schemaBanner(tool)
  if (banner) place.append(banner)
  else place.remove()
}

function hints({ annotations = {} }: Tool): string[] {
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations
  if (readOnlyHint) return ['read only']
  return [...(destructiveHint ? ['destructive'] : []), ...(idempotentHint ? ['idempotent'] : [])]
}

function show(result: CallToolResult, task: DetailedTask | undefined): Outcome {
  return {
    nodes: nodesOf(result),
    result,
    failure: result.isError === true ? textOf(result) : undefined,
    others: task ? [{ label: 'Task', make: () => jsonBlock(task, 'Task') }] : [],
  }
}

function nodesOf({ content, structuredContent }: CallToolResult): Node[] {
  if (structuredContent !== undefined) {
    // The text next to structured content usually repeats it, for clients that do not support it
    const same = JSON.stringify(structuredContent)
    const others = content.filter(
      (block) => block.type !== 'text' || JSON.stringify(tryParse(block.text)) !== same,
    )
    const heading = el('h2', { class: 'label' }, 'Structured content')
    return [...others.map(contentBlock), heading, valueBlock(structuredContent)]
  }
  if (content.length === 0) return [el('p', { class: 'empty' }, 'The result is empty.')]
  return content.map(contentBlock)
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
}
