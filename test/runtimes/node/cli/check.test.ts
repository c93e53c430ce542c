// The command `check`: what it prints in each format, and its exit status.
import { describe, expect, it } from 'vitest'
import { serve } from '../../../../runtimes/node/index.ts'
import { nodeCommand } from '../../../node-program.ts'
import { command } from './run.ts'
import { makeServer } from './server.ts'

const odd = 'test/runtimes/node/cli/odd-server.ts'

describe('edgewise check', () => {
  it('prints findings by severity, and succeeds if there are no errors', async () => {
    await using http = await serve(makeServer())
    const { code, out, err } = await command('check', http.url)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).not.toContain('Errors')
    expect(out).toMatch(/^Warnings\n {2}tool-description: A tool has a description/)
    expect(out).toContain(': The description is missing')
  })

  it('prints findings as JSON, with the requirement and its place in the specification', async () => {
    const { code, out } = await command('check', '--json', '--', ...nodeCommand(odd))
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      server: process.execPath,
      findings: expect.arrayContaining([
        {
          rule: 'tool-description',
          severity: 'warning',
          subject: 'odd',
          message: 'The description is missing',
          requirement: expect.any(String),
          url: expect.stringMatching(/^https:\/\/modelcontextprotocol\.io\//),
        },
      ]),
    })
  })

  it('prints findings as SARIF, and fails if there is an error', async () => {
    await using http = await serve(makeServer(), { allowedOrigins: '*' })
    const { code, out } = await command('check', http.url, '--sarif')
    expect(code).toBe(1)
    const { version, runs } = JSON.parse(out)
    const [{ tool, results }] = runs
    expect(version).toBe('2.1.0')
    const result = results.find(({ ruleId }: { ruleId: string }) => ruleId === 'origin-check')
    expect(result).toMatchObject({
      level: 'error',
      message: { text: expect.stringContaining('answered with 200.') },
      locations: [{ physicalLocation: { artifactLocation: { uri: http.url } } }],
    })
    expect(tool.driver.rules[result.ruleIndex]).toMatchObject({ id: 'origin-check' })
  })

  it('rejects two formats, and reports a server that does not answer', async () => {
    const both = await command('check', 'http://127.0.0.1:9/mcp', '--json', '--sarif')
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining('either "--json" or') })
    const silent = await command('check', 'http://127.0.0.1:9/mcp')
    expect(silent).toMatchObject({
      code: 3,
      err: expect.stringContaining('Cannot check http://127.0.0.1:9/mcp: '),
    })
  })
})
