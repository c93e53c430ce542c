/**
 * Groups the findings of a check for people, and creates a report of them for programs.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */
import { rules, type Finding, type Rule, type RuleId, type Severity } from './rules.ts'

/** The findings of one rule. A message that several findings share appears once, with all subjects. */
export interface RuleFindings extends Rule {
  readonly rule: RuleId
  readonly messages: readonly {
    /** What the server did. */
    readonly message: string
    /** The tools, resources, prompts or URLs that the message is about. */
    readonly subjects: readonly string[]
  }[]
}

const severities: readonly Severity[] = ['error', 'warning', 'note']

/** The rules whose violation keeps clients from connecting, or from using what the server offers. */
const decisive: ReadonlySet<RuleId> = new Set([
  'no-response',
  'malformed-body',
  'not-mcp',
  'version-negotiation',
  'initialize-result',
  'session-id',
  'session-lost',
  'cors-origin',
  'cors-headers',
  'cors-expose',
  'token-required',
  'challenge',
  'resource-metadata',
  'authorization-server',
  'pkce',
  'supported-version',
  'list-fails',
  'duplicate-name',
  'tool-schema',
  'invalid-schema',
])

/** Groups findings by severity, rule and message. Of each severity, those that keep clients from working come first. */
export function groupFindings(findings: readonly Finding[]): RuleFindings[] {
  return severities.flatMap((severity) => {
    const group = findings.filter((finding) => finding.severity === severity)
    const found = new Set(group.map(({ rule }) => rule))
    const ids = [...found].sort(
      (one, other) => Number(decisive.has(other)) - Number(decisive.has(one)),
    )
    return Array.from(ids, (rule) => ({
      ...rules[rule],
      severity,
      rule,
      messages: messagesOf(group.filter((finding) => finding.rule === rule)),
    }))
  })
}

function messagesOf(findings: readonly Finding[]): RuleFindings['messages'] {
  const subjectsOf = new Map<string, string[]>()
  for (const { message, subject } of findings) {
    const subjects = subjectsOf.get(message) ?? []
    if (subject !== undefined) subjects.push(subject)
    subjectsOf.set(message, subjects)
  }
  return Array.from(subjectsOf, ([message, subjects]) => ({ message, subjects }))
}

/** The maximum number of findings of one rule and severity in a report: a server may have thousands of tools. */
export const MAX_FINDINGS_OF_RULE = 100

/** How many findings of a rule and a severity are left out. */
export interface OmittedFindings {
  readonly rule: RuleId
  readonly severity: Severity
  readonly count: number
}

/** Findings of which only the first ones of each rule and severity are left. */
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

/** The report of a check. Each finding has the requirement that it violates, and the URL of its specification. */
export interface Report {
  /** The URL or the program. */
  readonly server: string
  readonly findings: readonly (Finding & Rule)[]
  readonly omitted: readonly OmittedFindings[]
}

/** Creates the report of a check. Its length is bounded. */
export function reportOf(server: string, all: readonly Finding[]): Report {
  const { findings, omitted } = boundFindings(all)
  return {
    server,
    findings: findings.map((finding) => {
      const { requirement, url } = rules[finding.rule]
      return { ...finding, requirement, url }
    }),
    omitted,
  }
}
