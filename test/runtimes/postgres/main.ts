// Runs the suite on the database that its argument names, on any runtime.
import process from 'node:process'
import { run } from '../harness.ts'
import { postgresSuite } from './suite.ts'

const { suite, close } = postgresSuite(process.argv[2] ?? '')
await run(suite, (result) => console.log(JSON.stringify(result)))
await close()
