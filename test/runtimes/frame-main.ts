// Runs the suite across an iframe, in the page.
import { frameSuite } from './frame-suite.ts'
import { run } from './harness.ts'

await run(frameSuite, (result) => console.log(JSON.stringify(result)))
