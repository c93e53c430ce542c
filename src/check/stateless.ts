/**
 * Checks how a server implements 2026-07-28.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
import { HEADER_METHOD } from '../protocol/headers.ts'
import type { Revision } from '../protocol/revisions.ts'
import { isObject } from '../protocol/validate.ts'
import { finding, type Finding } from './finding.ts'
import { UNKNOWN_METHOD, unknownMethodFinding } from './unknown.ts'
import {
  describeAnswer,
  errorCode,
  modernRequest,
  type Answer,
  type CheckedEndpoint,
} from './endpoint.ts'

/** The versions that the result of `server/discover` lists; undefined if the server does not support 2026-07-28. */
export function supportedVersions({ message }: Answer): Revision[] | undefined {
  const result = isObject(message?.result) ? message.result : {}
  return Array.isArray(result.supportedVersions) ? result.supportedVersions : undefined
}

/** Checks the errors for unsupported versions, contradictory headers and unknown methods. */
export async function* checkStateless(endpoint: CheckedEndpoint): AsyncGenerator<Finding> {
  const versionAnswer = await endpoint.send({
    ...modernRequest('server/discover', {}, '2099-12-31'),
    rule: 'unsupported-version',
  })
  if (versionAnswer.status !== 400 || errorCode(versionAnswer) !== -32022) {
    const actual = describeAnswer(versionAnswer)
    yield finding('unsupported-version', `The version "2099-12-31" was answered with ${actual}`)
  }
  const request = modernRequest('server/discover')
  const headerAnswer = await endpoint.send({
    ...request,
    headers: { ...request.headers, [HEADER_METHOD]: 'tools/list' },
    rule: 'method-header',
  })
  if (headerAnswer.status !== 400 || errorCode(headerAnswer) !== -32020) {
    yield finding(
      'method-header',
      `"tools/list" in the header of "server/discover" was answered with ${describeAnswer(headerAnswer)}`,
    )
  }
  const methodAnswer = await endpoint.send({
    ...modernRequest(UNKNOWN_METHOD),
    rule: 'unknown-method',
  })
  if (methodAnswer.status !== 404 || errorCode(methodAnswer) !== -32601) {
    yield unknownMethodFinding(`${describeAnswer(methodAnswer)}, in 2026-07-28`)
  }
}
