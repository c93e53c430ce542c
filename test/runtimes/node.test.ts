import { portableSuite, runLines } from './runtime.ts'

portableSuite('Node', (line) =>
  runLines(process.execPath, ['--import', 'tsx', 'test/runtimes/main.ts'], line),
)
