/**
 * Groups the findings of a check by their rules, for people.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */
import type { Finding } from './finding.ts'
import { rules, type Rule, type RuleId, type Severity } from './rules.ts'

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

/** Groups findings by severity, rule and message. In each severity, the decisive rules come first. */
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
  const subjectsByMessage = new Map<string, string[]>()
  for (const { message, subject } of findings) {
    const subjects = subjectsByMessage.get(message) ?? []
    if (subject !== undefined) subjects.push(subject)
    subjectsByMessage.set(message, subjects)
  }
  return Array.from(subjectsByMessage, ([message, subjects]) => ({ message, subjects }))
}
