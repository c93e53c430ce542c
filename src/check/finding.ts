/**
 * What `edgewise check` found: the violations of its rules.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */
import { rules, type RuleId, type Severity } from './rules.ts'

/** A violation of a rule. */
export interface Finding {
  readonly rule: RuleId
  readonly severity: Severity
  /** What the server did. */
  readonly message: string
  /** The tool, resource, prompt or URL that the finding is about, if any. */
  readonly subject?: string
}

/** The maximum length of a message and of a subject, both of which a server can make as long as it likes. */
const MAX_MESSAGE_LENGTH = 2_000
const MAX_SUBJECT_LENGTH = 200

function shorten(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}

/** Creates a finding of a rule, with the severity of the rule unless another is given. */
export function finding(
  rule: RuleId,
  message: string,
  subject?: string,
  severity: Severity = rules[rule].severity,
): Finding {
  return {
    rule,
    severity,
    message: shorten(message, MAX_MESSAGE_LENGTH),
    ...(subject !== undefined && { subject: shorten(subject, MAX_SUBJECT_LENGTH) }),
  }
}
