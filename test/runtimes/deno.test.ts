import { runLines } from '../process.ts'
import { portableSuite } from './runtime.ts'

// No permission is granted: the suite must need none.
const run = ['deno', 'run', '--no-remote', '--node-modules-dir=manual', '--no-prompt', '--no-lock']

portableSuite('Deno', (line) => runLines([...run, 'test/runtimes/main.ts'], line))

// TypeScript as it stands, without the compiler: what JSR would serve.
portableSuite('Deno from the sources', (line) =>
  runLines([...run, '--import-map=test/runtimes/sources.json', 'test/runtimes/main.ts'], line),
)
