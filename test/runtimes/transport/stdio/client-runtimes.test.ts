import { stdioClient } from '../../../../runtimes/node/index.ts'
import { runLines } from '../../../process.ts'
import { run } from '../../harness.ts'
import { suiteElsewhere } from '../../runtime.ts'
import { clientSuite } from './client-suite.ts'

process.env.EDGEWISE_TEST_SECRET = 'secret'

const node = process.execPath
const suite = clientSuite(stdioClient, node)

suiteElsewhere('stdioClient on Node', suite, (line) =>
  run(suite, (result) => line(JSON.stringify(result))),
)

// Running that one program is all that is permitted.
const flags = ['--no-remote', '--node-modules-dir=manual', '--no-prompt', '--no-lock']
suiteElsewhere('stdioClient on Deno', suite, (line) =>
  runLines(
    [
      'deno',
      'run',
      ...flags,
      `--allow-run=${node}`,
      'test/runtimes/transport/stdio/client-deno.ts',
      node,
    ],
    line,
  ),
)

suiteElsewhere('stdioClient on Bun', suite, (line) =>
  runLines(['bun', '--no-install', 'test/runtimes/transport/stdio/client-bun.ts', node], line),
)
