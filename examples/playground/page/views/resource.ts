/**
 * The views of resources and resource templates, which show their contents.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 */
import {
  expandUriTemplate,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
} from 'edgewise/browser'
import { titleOf } from '../catalog.ts'
import { resourceBlock } from '../content.ts'
import { argumentForm } from '../form/arguments.ts'
import { runPanel, type Outcome } from '../run.ts'
import type { Workspace } from '../workspace.ts'
import { suggestFor } from './suggest.ts'
import { actionForm, fold, frame } from './frame.ts'

/** Creates the view of a resource, and reads it immediately. */
export function resourceView(workspace: Workspace, resource: Resource): HTMLElement {
  const panel = runPanel()
  const read = (): Promise<void> =>
    panel.run(async (signal) => show(await workspace.client.readResource(resource.uri, { signal })))
  const form = actionForm('Read again', [], read)
  queueMicrotask(() => form.requestSubmit())
  return frame(
    {
      kind: 'Resource',
      title: titleOf(resource),
      name: resource.uri,
      description: resource.description,
      chips: resource.mimeType ? [resource.mimeType] : [],
      definition: resource,
    },
    form,
    panel.element,
  )
}

/** Creates the view of a template: its variables, and then the resource that they select. */
export function templateView(workspace: Workspace, template: ResourceTemplate): HTMLElement {
  const { uriTemplate } = template
  const names = variablesOf(uriTemplate).map((name) => ({
    name,
    required: uriTemplate.includes(`{${name}}`),
  }))
  const form = argumentForm(
    names,
    suggestFor(workspace, { type: 'ref/resource', uri: uriTemplate }),
  )
  const panel = runPanel()
  const read = (): Promise<void> =>
    panel.run(async (signal) => {
      const uri = expandUriTemplate(uriTemplate, form.read())
      return show(await workspace.client.readResource(uri, { signal }))
    })
  return frame(
    {
      kind: 'Resource template',
      title: titleOf(template),
      name: uriTemplate,
      description: template.description,
      chips: template.mimeType ? [template.mimeType] : [],
      definition: template,
    },
    actionForm('Read', [form.element], read),
    panel.element,
  )
}

/** Returns the names in the braces of a template, for example `x`, `y` and `z` for `{x}{?y,z*}`. */
function variablesOf(uriTemplate: string): string[] {
  const expressions = [...uriTemplate.matchAll(/\{[+#./;?&]?([^}]+)\}/g)]
  return expressions.flatMap(([, list = '']) =>
    list.split(',').map((name) => name.replace(/[*:].*/, '')),
  )
}

function show(result: ReadResourceResult): Outcome {
  return { nodes: [...result.contents.map(resourceBlock), fold('Whole result', result)] }
}
