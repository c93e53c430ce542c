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
import { argumentForm, textsOf } from '../form/arguments.ts'
import type { Outcome } from '../run.ts'
import type { Workspace } from '../workspace.ts'
import { entryView } from './entry.ts'
import { subscribeButton } from './subscribe.ts'
import { suggestFor } from './suggest.ts'

/** Creates the view of a resource, and reads it immediately. */
export function resourceView(workspace: Workspace, resource: Resource): HTMLElement {
  const { uri, description, mimeType } = resource
  const view = entryView(workspace, {
    kind: 'resource',
    key: uri,
    facts: {
      kind: 'Resource',
      title: titleOf(resource),
      name: uri,
      description,
      chips: mimeType ? [mimeType] : [],
      definition: resource,
    },
    action: 'Read again',
    form: argumentForm([], undefined),
    send: async (_values, signal, _onProgress, timeoutMs) =>
      show(await workspace.client.readResource(uri, { signal, timeoutMs })),
    extras: [subscribeButton(workspace, uri, () => view.submit())],
  })
  queueMicrotask(() => view.submit())
  return view.element
}

/** Creates the view of a template: its variables, and then the resource that they select. */
export function templateView(workspace: Workspace, template: ResourceTemplate): HTMLElement {
  const { uriTemplate, description, mimeType } = template
  const names = variablesOf(uriTemplate).map((name) => ({
    name,
    required: uriTemplate.includes(`{${name}}`),
  }))
  const suggest = suggestFor(workspace, { type: 'ref/resource', uri: uriTemplate })
  const { element } = entryView(workspace, {
    kind: 'template',
    key: uriTemplate,
    facts: {
      kind: 'Resource template',
      title: titleOf(template),
      name: uriTemplate,
      description,
      chips: mimeType ? [mimeType] : [],
      definition: template,
    },
    action: 'Read',
    form: argumentForm(names, suggest),
    async send(values, signal, _onProgress, timeoutMs) {
      const uri = expandUriTemplate(uriTemplate, textsOf(values))
      return show(await workspace.client.readResource(uri, { signal, timeoutMs }))
    },
  })
  return element
}

/** Returns the names in the braces of a template, for example `x`, `y` and `z` for `{x}{?y,z*}`. */
function variablesOf(uriTemplate: string): string[] {
  const expressions = [...uriTemplate.matchAll(/\{[+#./;?&]?([^{}]+)\}/g)]
  return expressions.flatMap(([, list = '']) =>
    list.split(',').map((name) => name.replace(/[*:].*/, '')),
  )
}

function show(result: ReadResourceResult): Outcome {
  return { nodes: result.contents.map(resourceBlock), result }
}
