// Runs the suite of faults on `node:sqlite`, where there is one.
import { DatabaseSync } from 'node:sqlite'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adaptSqlite } from '../../../src/sqlite/index.ts'
import { run } from '../harness.ts'
import { faultsSuite } from './faults-suite.ts'

const suite = faultsSuite(() => {
  const file = join(mkdtempSync(join(tmpdir(), 'edgewise-sqlite-')), 'faults.db')
  return Promise.resolve(() => adaptSqlite(new DatabaseSync(file)))
})
await run(suite, (result) => console.log(JSON.stringify(result)))
