import { runLines } from '../process.ts'
import { portableSuite } from './runtime.ts'

portableSuite('Node', (line) => runLines(['tsx', 'test/runtimes/main.ts'], line))
