import { runLines } from '../process.ts'
import { portableSuite } from './runtime.ts'

// No permission is granted: the suite must need none.
const flags = ['--no-remote', '--node-modules-dir=manual', '--no-prompt', '--no-lock']

portableSuite('Deno', (line) => runLines(['deno', 'run', ...flags, 'test/runtimes/main.ts'], line))
