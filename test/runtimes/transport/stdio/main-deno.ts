import { serveStdio } from '../../../../runtimes/deno/index.ts'
import { testServer } from './server.ts'

await serveStdio(testServer({ print: () => {} }))
console.error('served')
