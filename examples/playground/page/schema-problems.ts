/**
 * Finds what is wrong with the schemas of tools. Loaded on demand.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
 */
import { schemaFindings } from '#internal/check'
import type { Tool } from 'edgewise/browser'
import { el } from './dom.ts'
import { inSlices } from './timeline/slices.ts'

/** Returns the names of the tools whose schemas are not valid JSON Schema. */
export async function findInvalidTools(tools: readonly Tool[]): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  await inSlices(tools, (tool) => {
    const isInvalid = [...schemaFindings(tool)].some(({ rule }) => rule === 'invalid-schema')
    if (isInvalid) names.add(tool.name)
  })
  return names
}

/** Creates a card that says what is wrong with the schemas of a tool; `undefined` if nothing is. */
export function schemaBanner(tool: Tool): HTMLElement | undefined {
  const findings = [...schemaFindings(tool)]
  if (findings.length === 0) return undefined
  const parts = Object.entries(headlines).flatMap(([rule, headline]) => {
    const items = findings
      .filter((each) => each.rule === rule)
      .map(({ message }) => el('li', {}, message))
    if (items.length === 0) return []
    return [
      el('p', { class: 'text' }, el('strong', {}, headline)),
      el('ul', { class: 'bullets' }, ...items),
    ]
  })
  return el(
    'section',
    { class: 'card failure', 'aria-label': 'Problems of the schema' },
    ...parts,
    el(
      'p',
      { class: 'note' },
      'Hosts and models may refuse this tool, or call it with wrong arguments.',
    ),
  )
}

/** What the findings of a rule mean. */
const headlines = {
  'invalid-schema': 'A schema of this tool is not valid JSON Schema',
  'required-property': 'A required argument of this tool is not described',
}
