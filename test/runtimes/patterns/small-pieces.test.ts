import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../../root.ts'

/** How many bytes are read, each of which takes twice the memory of a piece of text as an object. */
const BYTES = 500_000
const TEXTS = 1_000_000
/** Room for the input, several times, but not for an object of every piece. */
const HEAP_MB = 32

describe('A long input in pieces of one byte', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'small-pieces-'))
    await build({
      entryPoints: [`${root}test/runtimes/patterns/small-pieces.ts`],
      outfile: join(folder, 'program.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
    })
  })
  afterAll(() => rm(folder, { recursive: true }))

  it.each([
    ['request', 400, BYTES],
    ['request of a stated length', 400, BYTES],
    ['request over a socket', 400, BYTES],
    ['response', 'The connection ended before the answer to "initialize"', TEXTS],
    ['line of events', 'The connection ended before the answer to "initialize"', TEXTS],
    ['event of empty lines', 'The connection ended before the answer to "initialize"', TEXTS],
    ['icon', 'The icon is not an image of its MIME type', BYTES],
    ['introspection', 'OperationProcessingError', BYTES],
  ])(
    'the program needs no more than a heap of 32 MB to read it: %s [S002]',
    (name, outcome, pieces) => {
      const program = [join(folder, 'program.mjs'), name, String(pieces)]
      const args = [`--max-old-space-size=${HEAP_MB}`, ...program]
      const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      expect(stdout.trim(), stderr.slice(0, 1000)).toBe(JSON.stringify(outcome))
    },
  )
})
