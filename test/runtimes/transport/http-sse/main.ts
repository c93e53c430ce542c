// Runs the suite of HTTP+SSE on the runtime that runs this.
import { createSseHandler } from '../../../../src/presets/server.ts'
import { run } from '../../harness.ts'
import { makeServer } from '../../../server/fixture.ts'
import { sseSuite } from './suite.ts'

const suite = sseSuite(() => {
  const handle = createSseHandler(makeServer().server)
  return Promise.resolve((path, init) =>
    handle(new Request(new URL(path, 'http://localhost'), init)),
  )
})
await run(suite, (result) => console.log(JSON.stringify(result)))
