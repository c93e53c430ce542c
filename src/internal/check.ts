/**
 * Checks servers, for the command line and the playground; not part of the public API.
 *
 * @module
 */
export { blockedHeaders, PING } from '../check/blocked.ts'
export { checkEndpoint, checkProgram, type OpenClient } from '../check/check-server.ts'
export { hasNoResponse, withoutSecrets } from '../check/endpoint.ts'
export type { Finding } from '../check/finding.ts'
export { boundFindings, MAX_FINDINGS_OF_RULE, reportOf } from '../check/report.ts'
export { groupFindings, type RuleFindings } from '../check/rule-findings.ts'
export { schemaFindings } from '../check/schemas.ts'
export { rules, type Rule, type RuleId, type Severity } from '../check/rules.ts'
