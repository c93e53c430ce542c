import { stdioClient } from '../../../../runtimes/deno/index.ts'
import { run } from '../../harness.ts'
import { clientSuite } from './client-suite.ts'

const { args } = (globalThis as unknown as { Deno: { args: string[] } }).Deno
await run(clientSuite(stdioClient, args[0]!), (result) => console.log(JSON.stringify(result)))
