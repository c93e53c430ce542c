import { serveStdio } from '../../../../runtimes/node/index.ts'
import { testServer } from './server.ts'

process.on('uncaughtException', () => process.exit(70))
await serveStdio(testServer({ print: () => void process.stdout.write('raw\n') }))
console.error('served')
