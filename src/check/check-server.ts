/**
 * Checks a server against the specification, and against what hosts and model APIs accept.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */
import type { Client } from '../client/client.ts'
import { findRevision, type Revision } from '../protocol/revisions.ts'
import { checkAuthorization } from './authorization.ts'
import { checkCatalog } from './catalog.ts'
import { finding, type Finding } from './rules.ts'
import { acceptedVersions, checkSessions, isInitialized } from './sessions.ts'
import { checkStateless, supportedVersions } from './stateless.ts'
import { checkWeb } from './web.ts'
import { describeAnswer, initializeRequest, modernRequest, Wire, type WireOptions } from './wire.ts'

/** How a client connects, in a revision if it is given. */
export type Open = (revision?: Revision) => Promise<Client>

/**
 * Checks an endpoint over HTTP. Calls no tool of the server; opens sessions and ends them.
 *
 * @throws {TypeError} If nothing answers at the URL.
 * @throws {SdkError} `TIMEOUT` if an answer takes too long.
 */
export async function* checkEndpoint(options: WireOptions, open: Open): AsyncGenerator<Finding> {
  const wire = new Wire(options)
  const discovered = await wire.send(modernRequest('server/discover'))
  const initialized = await wire.send({ body: initializeRequest('2025-11-25') })
  for (const answer of [discovered, initialized]) {
    if (answer.status !== 401) continue
    yield* checkAuthorization(wire, answer)
    return yield* checkWeb(wire)
  }
  const versions = supportedVersions(discovered)
  const isLegacy = isInitialized(initialized)
  if (!versions && !isLegacy) {
    return yield finding('not-mcp', describeRefusal(describeAnswer(initialized), initialized.text))
  }
  if (versions) yield* checkStateless(wire)
  const session = isLegacy ? yield* checkSessions(wire, initialized) : { isUsable: false }
  // Further findings would only follow from this one
  if (isLegacy && !session.isUsable && !versions) return
  yield* checkWeb(wire)
  const accepted = session.isUsable ? await acceptedVersions(wire) : []
  yield* checkVersions(new Set([...(versions ?? []), ...accepted]), open)
  await using client = await open()
  yield* checkCatalog(client, options.signal)
}

/** Checks a program that communicates over stdio, in what every transport has. */
export async function* checkProgram(open: Open, signal?: AbortSignal): AsyncGenerator<Finding> {
  await using client = await open()
  yield* checkCatalog(client, signal)
}

/** Connects in each version that the server claims. Versions that are unknown here are ignored. */
async function* checkVersions(versions: Iterable<Revision>, open: Open): AsyncGenerator<Finding> {
  for (const version of versions) {
    if (!findRevision(version)) continue
    try {
      const client = await open(version)
      await client.close()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      yield finding('supported-version', `A client cannot use ${version}: ${reason}`)
    }
  }
}

function describeRefusal(answer: string, text: string): string {
  const isPage = /^\s*<(?:!doctype|html)/i.test(text)
  return `"initialize" was answered with ${isPage ? `an HTML page: is the path right? (${answer})` : answer}`
}
