/**
 * Creates the report of a check as an object, for other programs. `rule-findings.ts` groups findings for people.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */
import type { Finding } from './finding.ts'
import { rules, type Rule, type RuleId, type Severity } from './rules.ts'

/** The maximum number of findings of one rule and severity in a report: a server may have thousands of tools. */
export const MAX_FINDINGS_OF_RULE = 100

/** How many findings of a rule and a severity were left out. */
export interface OmittedFindings {
  readonly rule: RuleId
  readonly severity: Severity
  readonly count: number
}

/** The first findings of each rule and severity, and how many others were left out. */
export interface BoundedFindings {
  readonly findings: readonly Finding[]
  readonly omitted: readonly OmittedFindings[]
}

/** Leaves out the findings of a rule and a severity after the first 100, and counts them. */
export function boundFindings(findings: readonly Finding[]): BoundedFindings {
  const counts = new Map<string, number>()
  const omitted = new Map<string, OmittedFindings>()
  const kept = findings.filter(({ rule, severity }) => {
    const key = `${severity} ${rule}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    if (count <= MAX_FINDINGS_OF_RULE) return true
    omitted.set(key, { rule, severity, count: count - MAX_FINDINGS_OF_RULE })
    return false
  })
  return { findings: kept, omitted: [...omitted.values()] }
}

/** The report of a check. Each finding has the requirement that it violates, and the URL where it is specified. */
export interface Report {
  /** The URL or the program. */
  readonly server: string
  readonly findings: readonly (Finding & Rule)[]
  readonly omitted: readonly OmittedFindings[]
}

/** Creates the report of a check. The number of its findings is bounded. */
export function reportOf(server: string, allFindings: readonly Finding[]): Report {
  const { findings, omitted } = boundFindings(allFindings)
  return {
    server,
    findings: findings.map((finding) => {
      const { requirement, url } = rules[finding.rule]
      return { ...finding, requirement, url }
    }),
    omitted,
  }
}
