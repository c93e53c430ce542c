/**
 * Checks what Web pages need, and what protects users from them.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
import { isLoopback } from '../patterns/loopback.ts'
import { finding, type Finding } from './rules.ts'
import { initializeRequest, type Answer, type Wire } from './wire.ts'

/** An origin that no server allows by name. */
const FOREIGN = 'https://edgewise-check.example'
const REQUESTED = ['content-type', 'mcp-protocol-version', 'mcp-session-id', 'authorization']

/** Checks preflights, exposed headers and origins. */
export async function* checkWeb(wire: Wire): AsyncGenerator<Finding> {
  // The browser sets the origin of the page, and sends preflights itself
  if (wire.isPage) return
  const headers = { origin: FOREIGN }
  if (isLoopback(new URL(wire.url).hostname)) {
    const foreign = await wire.send({ body: initializeRequest('2025-11-25'), headers })
    await wire.endSession(foreign)
    if (foreign.status !== 403) {
      yield finding('origin-check', `"Origin: ${FOREIGN}" was answered with ${foreign.status}`)
    }
    return
  }
  const preflight = await wire.send({
    method: 'OPTIONS',
    isAnonymous: true,
    headers: {
      ...headers,
      'access-control-request-method': 'POST',
      'access-control-request-headers': REQUESTED.join(','),
    },
  })
  if (!allowsOrigin(preflight)) {
    yield finding('cors-preflight', 'Pages of other origins are not allowed')
    return
  }
  const allowed = listOf(preflight, 'access-control-allow-headers')
  const missing = REQUESTED.filter(
    (name) => !allowed.includes(name) && (name === 'authorization' || !allowed.includes('*')),
  )
  if (missing.length > 0) {
    yield finding('cors-preflight', `These headers are not allowed: ${missing.join(', ')}`)
  }
  const answer = await wire.send({ body: initializeRequest('2025-11-25'), headers })
  await wire.endSession(answer)
  const exposed = listOf(answer, 'access-control-expose-headers')
  const needed = ['mcp-session-id', 'www-authenticate'].filter((name) => answer.headers.has(name))
  const hidden = needed.filter((name) => !exposed.includes(name) && !exposed.includes('*'))
  if (hidden.length > 0) yield finding('cors-expose', `Pages cannot read ${hidden.join(', ')}`)
}

function allowsOrigin({ headers }: Answer): boolean {
  return ['*', FOREIGN].includes(headers.get('access-control-allow-origin') ?? '')
}

function listOf({ headers }: Answer, name: string): string[] {
  return (headers.get(name) ?? '').split(',').map((item) => item.trim().toLowerCase())
}
