/**
 * Prints the results of a conformance run as a table.
 */
import type { Outcome } from './suite.ts'

/** An outcome, and the runtime of the side under test. */
export interface HostedOutcome extends Outcome {
  readonly runtime: string
}

/** Prints the table with each failing check, then totals; returns how many scenarios failed. */
export function report(all: readonly HostedOutcome[]): number {
  const width = Math.max(...all.map(({ scenario }) => scenario.name.length))
  const totals = new Map<string, Record<Verdict, number>>()
  const lines: string[] = []
  for (const outcome of all) {
    const { role, revision, name, standing } = outcome.scenario
    const verdict = judge(outcome)
    const counts = `${count(outcome, 'SUCCESS')} passed, ${count(outcome, 'FAILURE')} failed`
    const warnings = count(outcome, 'WARNING')
    lines.push(
      [
        role.padEnd(6),
        outcome.runtime.padEnd(8),
        revision,
        name.padEnd(width),
        standing.padEnd(19),
        verdict.padEnd(4),
        counts + (warnings > 0 ? `, ${warnings} warnings` : ''),
      ].join('  '),
    )
    const key = `${role} on ${outcome.runtime}, ${revision} ${standing === 'required' ? 'required' : 'not scored'}`
    const total = totals.get(key) ?? { pass: 0, warn: 0, skip: 0, FAIL: 0 }
    total[verdict] += 1
    totals.set(key, total)
    for (const check of outcome.checks) {
      if (check.status !== 'FAILURE' && check.status !== 'WARNING') continue
      const reason = check.errorMessage ?? check.description
      lines.push(`          ${check.status} ${check.id} (${check.name}): ${reason}`)
    }
    if (outcome.problem) lines.push(outcome.problem.replaceAll(/^/gm, '          '))
  }
  console.log(lines.join('\n'))
  console.log()
  for (const [key, { pass, warn, skip, FAIL }] of totals) {
    const rest = `${warn} with warnings, ${skip} not exercised, ${FAIL} failed`
    console.log(`${key}: ${pass} of ${pass + warn + skip + FAIL} scenarios passed, ${rest}`)
  }
  return all.filter((outcome) => judge(outcome) === 'FAIL').length
}

type Verdict = 'pass' | 'warn' | 'skip' | 'FAIL'

function judge(outcome: Outcome): Verdict {
  if (outcome.problem !== undefined || count(outcome, 'FAILURE') > 0) return 'FAIL'
  if (count(outcome, 'WARNING') > 0) return 'warn'
  // A scenario that only checks the format of the messages has not been exercised.
  const scenarioChecks = outcome.checks.filter(({ id }) => id !== 'wire-schema-valid')
  return scenarioChecks.some(({ status }) => status === 'SUCCESS') ? 'pass' : 'skip'
}

function count(outcome: Outcome, status: string): number {
  return outcome.checks.filter((check) => check.status === status).length
}
