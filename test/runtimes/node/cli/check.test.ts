// The command `check`: what it prints in each format, and its exit status.
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { rules, type RuleId } from '#internal/check'
import { sarifOf } from '../../../../runtimes/node/cli/sarif.ts'
import { serve } from '../../../../runtimes/node/index.ts'
import { nodeCommand } from '../../../node-program.ts'
import { command } from './run.ts'
import { makeServer } from './server.ts'

/** The schema of the standard, without its descriptions. */
const sarifSchema = readFileSync(new URL('sarif-2.1.0.schema.json', import.meta.url), 'utf8')
const ajv = new Ajv({ strict: false, unicodeRegExp: false })
formats.default(ajv)
const validateSarif = ajv.compile(JSON.parse(sarifSchema) as object)

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
    expect(validateSarif(JSON.parse(out)), ajv.errorsText(validateSarif.errors)).toBe(true)
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

  it('prints SARIF for every rule, with a subject or without, that the schema of SARIF allows', () => {
    const findings = Object.entries(rules).flatMap(([id, { severity }]) => {
      const found = { rule: id as RuleId, severity, message: 'Found' }
      return [found, { ...found, subject: 'tools/list' }]
    })
    for (const server of ['https://mcp.example/mcp?a=b c', '/opt/my server', 'node']) {
      const isValid = validateSarif(sarifOf(findings, server, '1.0.0'))
      expect(isValid, ajv.errorsText(validateSarif.errors)).toBe(true)
    }
    const log = JSON.stringify(sarifOf(findings, 'node', '1.0.0'))
    expect(validateSarif(JSON.parse(log.replace('"level":"error"', '"level":"fatal"')))).toBe(false)
  })

  it('prints a bounded number of results as SARIF and text, and how many more there are', async () => {
    const found = { rule: 'tool-name', severity: 'warning', message: 'Found' } as const
    const many = Array.from({ length: 150 }, () => found)
    const log = sarifOf([{ ...found, rule: 'list-slow' }, ...many], 'node', '1.0.0')
    expect(validateSarif(log), ajv.errorsText(validateSarif.errors)).toBe(true)
    const [run] = log['runs'] as { results: unknown[]; invocations: unknown[] }[]
    expect(run?.results).toHaveLength(101)
    expect(run?.invocations).toEqual([
      {
        executionSuccessful: true,
        toolExecutionNotifications: [
          {
            level: 'warning',
            message: { text: '50 more results of the rule "tool-name" were left out.' },
            associatedRule: { id: 'tool-name', index: 1 },
          },
        ],
      },
    ])
    const server = makeServer()
    for (let index = 0; index < 150; index++)
      server.tool(
        `t ${index}`,
        { description: 'A tool', annotations: { readOnlyHint: true } },
        () => '',
      )
    await using http = await serve(server)
    const { out } = await command('check', http.url)
    expect(out).toMatch(/\n {4}t 99: The name is "t 99"\n {4}and 50 more\n {4}See /)
  })

  it('prints no secrets of the URL', async () => {
    await using http = await serve(makeServer(), { allowedOrigins: '*' })
    const url = `${http.url}?api_key=s3cret`
    for (const format of ['--json', '--sarif']) {
      const { out } = await command('check', url, format)
      expect(out).toContain(`${http.url}?api_key=redacted`)
      expect(out).not.toContain('s3cret')
    }
    const { code, err } = await command('check', 'http://127.0.0.1:9/mcp?key=s3cret')
    expect({ code, err }).toMatchObject({ code: 3, err: expect.not.stringContaining('s3cret') })
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
