/**
 * Converts findings to SARIF, the format of tools for code scanning.
 *
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
import { boundFindings, rules, type Finding, type RuleId } from '#internal/check'
import type { JsonObject } from '../../../src/index.ts'

/** Creates a SARIF log with one run. The number of its results is bounded. */
export function sarifOf(
  allFindings: readonly Finding[],
  server: string,
  version: string,
): JsonObject {
  const { findings, omitted } = boundFindings(allFindings)
  const ids = [...new Set(findings.map(({ rule }) => rule))]
  const driver = { name: 'edgewise', version, rules: ids.map(ruleOf) }
  const results = findings.map(({ rule, severity, message, subject }) => ({
    ruleId: rule,
    ruleIndex: ids.indexOf(rule),
    level: severity,
    message: { text: `${rules[rule].requirement} ${message}.` },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: encodeURI(server) } },
        ...(subject !== undefined && { logicalLocations: [{ fullyQualifiedName: subject }] }),
      },
    ],
  }))
  const toolExecutionNotifications = omitted.map(({ rule, severity, count }) => ({
    level: severity,
    message: { text: `${count} more results of the rule "${rule}" were left out.` },
    associatedRule: { id: rule, index: ids.indexOf(rule) },
  }))
  return {
    $schema:
      'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver },
        results,
        ...(omitted.length > 0 && {
          invocations: [{ executionSuccessful: true, toolExecutionNotifications }],
        }),
      },
    ],
  }
}

function ruleOf(id: RuleId): JsonObject {
  const { severity, requirement, url } = rules[id]
  return {
    id,
    shortDescription: { text: requirement },
    helpUri: url,
    defaultConfiguration: { level: severity },
  }
}
