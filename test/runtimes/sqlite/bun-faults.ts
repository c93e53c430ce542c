// Runs the suite of faults on `bun:sqlite`.
import { Database } from 'bun:sqlite'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adaptSqlite } from '../../../src/sqlite/index.ts'
import { run } from '../harness.ts'
import { faultsSuite } from './faults-suite.ts'

const suite = faultsSuite(() => {
  const file = join(mkdtempSync(join(tmpdir(), 'edgewise-sqlite-')), 'faults.db')
  return Promise.resolve(() => adaptSqlite(new Database(file)))
})
await run(suite, (result) => console.log(JSON.stringify(result)))
