// Runs the suite of the previous version's data on `bun:sqlite`.
import { Database } from 'bun:sqlite'
import { adaptSqlite } from '../../../../src/sqlite/index.ts'
import { run } from '../../harness.ts'
import { sqliteSuite } from './sqlite-suite.ts'

const suite = sqliteSuite(() => adaptSqlite(new Database(':memory:')))
await run(suite, (result) => console.log(JSON.stringify(result)))
