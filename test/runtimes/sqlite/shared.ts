// Counts up in a database that several processes share, and reports when it is done.
import { Database } from 'bun:sqlite'
import { argv } from 'node:process'
import { adaptSqlite } from '../../../src/sqlite/index.ts'

const sql = adaptSqlite(new Database(argv[2] ?? ''))
sql.run('CREATE TABLE IF NOT EXISTS counter (n INTEGER NOT NULL)')
for (let i = 0; i < 100; i++) {
  sql.transaction(() => {
    const [row] = sql.all<{ n: number }>('SELECT sum(n) AS n FROM counter')
    sql.all('DELETE FROM counter')
    sql.all('INSERT INTO counter (n) VALUES (?)', (row?.n ?? 0) + 1)
  })
}
const [row] = sql.all<{ n: number }>('SELECT n FROM counter')
console.log(JSON.stringify(row?.n))
