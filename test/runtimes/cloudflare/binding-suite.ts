// What every revision must do over a service binding.
import { revisions } from 'edgewise'
import type { Suite } from '../harness.ts'
import { revisionSuite, type Open } from '../revision-suite.ts'

export function bindingSuite(open: Open): Suite {
  const suites = revisions.map(({ version }) => revisionSuite('over a binding', version, open))
  return Object.assign({}, ...suites) as Suite
}
