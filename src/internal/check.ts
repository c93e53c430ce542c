/**
 * Checks of servers, for the command line; not exported by the package.
 *
 * @module
 */
export { checkEndpoint, checkProgram, type Open } from '../check/check-server.ts'
export { rules, type Finding, type Rule, type RuleId, type Severity } from '../check/rules.ts'
