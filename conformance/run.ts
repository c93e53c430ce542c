/**
 * `npm run conformance`: runs the official suite against Edgewise's server and client, with every
 * scenario of both requirement sets and those that only older revisions have, and prints a table. There
 * are no expected failures: each failure is shown and reflected in the exit code.
 *
 * @see https://github.com/modelcontextprotocol/conformance
 *
 * Without `--runtime`, the server is tested on Node: as one process, and as three processes that share a
 * Postgres database, behind a proxy that gives each request to the next one (`postgres`).
 *
 * `--url` and `--command` replace ours with a running server or another client. `--role`, `--revision`
 * and `--scenario` may be repeated.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { clientCommand, startServer } from './hosts.ts'
import { report, type HostedOutcome } from './report.ts'
import type { Outcome, Role, Scenario } from './suite.ts'
import {
  installSuite,
  listScenarios,
  olderRevisions,
  OUTSIDE_SET,
  requirementSets,
  runRequirements,
  runScenario,
} from './suite.ts'

const usage = `npm run conformance -- [--role server|client] [--runtime node|deno|bun|workerd|postgres]
                       [--revision 2025-11-25] [--scenario NAME] [--url ENDPOINT]
                       [--command CLIENT]`

const { values: options } = parseArgs({
  options: {
    role: { type: 'string', multiple: true, default: ['server', 'client'] },
    runtime: { type: 'string' },
    revision: { type: 'string', multiple: true },
    scenario: { type: 'string', multiple: true },
    url: { type: 'string' },
    command: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(usage)
  process.exit()
}

const results = fileURLToPath(new URL('results', import.meta.url))

await installSuite()
await rm(results, { recursive: true, force: true })
await mkdir(results, { recursive: true })

const outcomes: HostedOutcome[] = []
for (const role of options.role) {
  if (role !== 'server' && role !== 'client') throw new Error(`Unknown role: "${role}"`)
  for (const runtime of runtimesOf(role)) {
    const found = await runRuntime(role, runtime)
    outcomes.push(...found.map((outcome) => ({ ...outcome, runtime })))
  }
}
if (outcomes.length === 0) throw new Error('No scenario matches')

await writeFile(join(results, 'summary.json'), JSON.stringify(outcomes, null, 2))
const failed = report(outcomes)
process.exitCode = failed === 0 ? 0 : 1

/** The server is tested as one process, and as three that share a database. */
function runtimesOf(role: Role): readonly string[] {
  if (options.runtime !== undefined) return [options.runtime]
  return role === 'server' && options.url === undefined ? ['node', 'postgres'] : ['node']
}

async function runRuntime(role: Role, runtime: string): Promise<Outcome[]> {
  const found: Outcome[] = []
  for (const revision of options.revision ?? requirementSets) {
    found.push(...(await runRole(role, runtime, revision)))
  }
  if (options.revision) return found
  // Scenarios that only this older revision has
  const known = new Set(found.map(({ scenario }) => scenario.name))
  for (const revision of olderRevisions) {
    found.push(...(await runRole(role, runtime, revision, ({ name }) => !known.has(name))))
  }
  return found
}

async function runRole(
  role: Role,
  runtime: string,
  revision: string,
  isIncluded: (scenario: Scenario) => boolean = () => true,
): Promise<Outcome[]> {
  const all = (await listScenarios(role, revision)).filter(isIncluded)
  const chosen = options.scenario ? all.filter(({ name }) => options.scenario?.includes(name)) : all
  if (chosen.length === 0) return []
  console.error(`${role} at ${revision} on ${runtime}: ${chosen.length} scenarios`)
  const folder = join(results, runtime)
  if (role === 'client') {
    const command = options.command ?? (await clientCommand(runtime))
    return inParallel(chosen, availableParallelism(), (scenario) =>
      runScenario(scenario, command, folder),
    )
  }
  if (options.url) return runServer(chosen, revision, options.url, folder)
  await using server = await startServer(runtime)
  return await runServer(chosen, revision, server.url, folder)
}

async function runServer(
  chosen: readonly Scenario[],
  revision: string,
  url: string,
  folder: string,
): Promise<Outcome[]> {
  const inSet = options.scenario ? [] : chosen.filter(({ standing }) => standing !== OUTSIDE_SET)
  const setOutcomes = inSet.length > 0 ? await runRequirements(inSet, revision, url, folder) : []
  const rest = chosen.filter((scenario) => !inSet.includes(scenario))
  // One at a time, because scenarios that change lists would affect those that observe them
  const otherOutcomes = await inParallel(rest, 1, (scenario) => runScenario(scenario, url, folder))
  return [...setOutcomes, ...otherOutcomes]
}

async function inParallel<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const done: Result[] = []
  const queue = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) done[index] = await work(item)
  }
  await Promise.all(Array.from({ length: width }, worker))
  return done
}
