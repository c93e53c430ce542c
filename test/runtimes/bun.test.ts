import { runLines } from '../process.ts'
import { portableSuite } from './runtime.ts'

portableSuite('Bun', (line) => runLines(['bun', '--no-install', 'test/runtimes/main.ts'], line))
