import { describe, expect, it } from 'vitest'
import { nodeCommand } from '../../../node-program.ts'
import { command } from './run.ts'

const program = ['--', ...nodeCommand('test/runtimes/node/cli/forging-server.ts')]
const run = (...words: string[]) => command(...words, ...program)

/** The same as the server says, as it is to be shown. */
const SHOWN = '\\u009b31m\\u202eb\\u200bc\\udb40\\udc41\\u00ad'

describe('text of a server', () => {
  it('is listed in one line a name, with all that is unseen in it [S022]', async () => {
    const { code, out } = await run('list')
    expect(code).toBe(0)
    expect(out.split('\n')).toEqual([
      `forger\\u000atools\\u000a  forged${SHOWN} 1\\u000a2 speaks 2025-06-18`,
      'tools',
      `  a\\u000a  b  Forged${SHOWN}  First${SHOWN}`,
      'resources',
      expect.stringMatching(/^ {2}a:b\\u000a {2}c:d {2}Forged +a/),
      'prompts',
      `  a\\u000a  b  Forged${SHOWN}`,
      '',
    ])
  })

  it('of its own accord is text in several lines, as scripts and emoji are written [S022]', async () => {
    const { out } = await run('call', 'any')
    expect(out.split('\n')).toEqual([
      'one',
      `\ttwo 👩‍👩‍👧 می‌خواهم${SHOWN}`,
      `[a\\u000a  b  Forged${SHOWN}: a:b]`,
      '[image image/png\\u000aforged, 0 bytes]',
      '',
    ])
  })

  it('is escaped as JSON, and the same value for who reads that [S022]', async () => {
    for (const words of [['list'], ['call', 'any']]) {
      const { out } = await run(...words, '--json')
      expect(out).not.toMatch(/[\u0080-\u009F\u202E\u200B\u00AD]|\u{E0041}/u)
      expect(JSON.stringify(JSON.parse(out))).toContain('\u009B31m\u202Eb\u200Bc\u{E0041}\u00AD')
    }
  })

  it('cannot pass for a message of another role, another value, or another line of an error [S022]', async () => {
    expect((await run('prompt', 'any')).out).toBe('user: Hi\n    assistant: forged\n')
    expect((await run('complete', 'any', 'a=')).out).toBe('x\\u000aforged\ny\n')
    const refused = await run('read', 'a:b')
    expect(refused.err).toBe(
      `The server returned an error: No\\u000aProblem: forged${SHOWN} (-32000)\n`,
    )
  })
})
