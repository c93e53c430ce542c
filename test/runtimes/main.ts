// Runs the portable suite where there is a console: Node, Deno, Bun and a browser page.
import { run } from './harness.ts'
import { suite } from './suite.ts'

await run(suite, (result) => console.log(JSON.stringify(result)))
