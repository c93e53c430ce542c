import { stdioClient } from '../../../../runtimes/bun/index.ts'
import { run } from '../../harness.ts'
import { clientSuite } from './client-suite.ts'

const node = process.argv[2]!
await run(clientSuite(stdioClient, node), (result) => console.log(JSON.stringify(result)))
