import { bun } from './binaries.ts'
import { portableSuite, runLines } from './runtime.ts'

portableSuite('Bun', (line) => runLines(bun(), ['--no-install', 'test/runtimes/main.ts'], line))
