// What the playground says about failures: one explanation, wherever it is shown.
import { AuthorizationError } from 'edgewise/authorization'
import { FetchFault, ProtocolError, SdkError } from 'edgewise/browser'
import { describe, expect, it } from 'vitest'
import { explain, type FailureContext } from '../../examples/playground/page/errors.ts'

const url = 'https://a.example/mcp'

/** A response that is not a message. */
function answered(status: number, contentType: string, text: string): FailureContext {
  const statusText = status === 404 ? 'Not Found' : ''
  return { lastAnswer: { url, status, statusText, contentType, text, isMessage: false } }
}

function networkError(kind: FetchFault['kind']): SdkError {
  const cause = new FetchFault(kind, 'It fails', 'Do this', new TypeError('Failed to fetch'))
  return new SdkError('NETWORK', `Cannot reach "${url}": ${String(cause)}`, { cause })
}

describe('Explanations of the playground', () => {
  it('say what failed, why, and what to do, each once', () => {
    const { headline, why, advice } = explain(networkError('offline'))
    expect([headline, why, advice]).toEqual([`Cannot reach "${url}"`, 'It fails', ['Do this.']])
  })

  it.each(['cors', 'mixed-content', 'csp'] as const)(
    'name a way around the rules of browsers for %s',
    (kind) => {
      expect(explain(networkError(kind)).advice.join(' ')).toContain('npx edgewise inspect')
    },
  )

  it.each(['prompt', 'denied'] as const)(
    'name the permission for the local network while it is %s',
    (localNetwork) => {
      const { why } = explain(networkError('unreachable'), { localNetwork })
      expect(why).toBe('The browser does not let this page reach the local network.')
    },
  )

  it('recognize HTML in the place of JSON', () => {
    const error = new SdkError('INVALID_MESSAGE', 'The response is not JSON')
    const { why, advice } = explain(error, answered(200, 'text/html', '<title>Hi</title>'))
    expect(why).toBe('The server answered HTTP 200: Hi')
    expect(advice[0]).toBe('The response is HTML instead of JSON.')
  })

  it('suspect the path of a page that is not there, and not of a broken server', () => {
    const message = `"${url}" is not an MCP endpoint: 2026-07-28: no; initialize: no`
    const error = new SdkError('HTTP', message)
    const missing = explain(error, answered(404, 'text/html', '<title>Oh no</title>'))
    expect(missing.headline).toBe(`"${url}" is not an MCP endpoint`)
    expect(missing.why).toBe('The server answered HTTP 404 Not Found: Oh no')
    expect(missing.advice.join(' ')).toContain('/mcp')
    const broken = explain(error, answered(502, 'text/html', '<title>Bad</title>'))
    expect(broken.advice.join(' ')).not.toContain('/mcp')
  })

  it('distinguish a rejected token of the settings from a missing sign-in', () => {
    const error = new SdkError('UNAUTHORIZED', `"${url}" is protected (HTTP 401)`)
    const [rejected] = explain(error, { hasCredentials: true }).advice
    expect(rejected).toMatch(/^Check the bearer token/)
    const [hidden] = explain(error, answered(401, 'text/plain', 'no')).advice
    expect(hidden).toContain('WWW-Authenticate')
  })

  it('name the step of a sign-in that has failed', () => {
    const error = new AuthorizationError('registration', 'No client can register')
    expect(explain(error).advice).toEqual([expect.stringContaining('register clients')])
  })

  it('show the code and the data of an error of the server', () => {
    const error = new ProtocolError(-32602, 'Unknown tool', { name: 'x' })
    expect(explain(error)).toEqual({
      headline: 'Unknown tool (-32602)',
      advice: [expect.stringContaining('rejects the arguments')],
      data: { name: 'x' },
    })
  })
})
