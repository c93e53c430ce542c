import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../root.ts'
import { metricTable } from './conventions.ts'

/** What the dashboard's file has that this test reads. */
interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
}

const guide = readFileSync(join(root, 'docs/guides/opentelemetry.md'), 'utf8')
const dashboard = JSON.parse(
  readFileSync(join(root, 'docs/guides/grafana-dashboard.json'), 'utf8'),
) as Dashboard
const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
const alerts = Array.from(guide.matchAll(/^```promql\n([^]*?)^```/gm), ([, query = '']) => query)

it('the dashboard and the alerts query metrics and labels that exist', () => {
  expect(queries.length).toBeGreaterThan(7)
  expect(alerts.length).toBeGreaterThan(1)
  const known = Object.keys(metricTable[0] ?? {})
    .concat(metricTable.map(({ attribute = '' }) => attribute))
    .map((name) => name.replaceAll('.', '_'))
  for (const query of [...queries, ...alerts]) {
    const names = query.match(/\b(?:mcp|gen_ai|error|server|rpc|network)_\w+/g) ?? []
    expect(names.length).toBeGreaterThan(0)
    // The suffixes that Prometheus adds
    const bare = names.map((name) =>
      name.replace(/(?:_seconds)?_(?:count|bucket|sum)$|_duration_?$/, (found) =>
        found.startsWith('_duration') ? '_duration' : '',
      ),
    )
    expect(bare.filter((name) => !known.includes(name))).toEqual([])
  }
})
