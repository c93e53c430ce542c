// What the playground says about failures: one explanation, wherever it is shown.
import { AuthorizationError } from 'edgewise/authorization'
import { FetchFault, ProtocolError, SdkError } from 'edgewise/browser'
import { describe, expect, it } from 'vitest'
import { explainBlocked } from '../../examples/playground/page/connection/cors.ts'
import { explainTimeout } from '../../examples/playground/page/connection/timeout.ts'
import { explain } from '../../examples/playground/page/errors.ts'
import type { FailureContext } from '../../examples/playground/page/explanation.ts'
import { explainSignIn } from '../../examples/playground/page/sign-in/failure.ts'

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

  it('name the certificate only for HTTPS', () => {
    const adviceFor = (scheme: string): string => {
      const message = `No server responds at "${scheme}://a.example"`
      const cause = new FetchFault('unreachable', message, 'Do this', new TypeError('Failed'))
      return explain(new SdkError('NETWORK', 'Cannot reach it', { cause })).advice.join(' ')
    }
    expect(adviceFor('https')).toContain('certificate')
    expect(adviceFor('http')).not.toContain('certificate')
    expect(adviceFor('http')).toContain('Check that the server runs.')
  })

  it.each(['cors', 'mixed-content', 'csp'] as const)(
    'name a way around the rules of browsers for %s',
    (kind) => {
      expect(explain(networkError(kind)).advice.join(' ')).toContain('npx edgewise inspect')
    },
  )

  describe('of a response that CORS blocks', () => {
    const origin = 'https://page.example'
    const requested = ['accept', 'content-type', 'mcp-session-id', 'x-own']

    it('name all headers if no response allows the page', () => {
      const { why, lines } = explainBlocked({ origin, requested, missing: undefined })
      expect(why).toContain(`no “Access-Control-Allow-Origin” that allows pages of ${origin}`)
      expect(lines?.[0]).toBe(`Access-Control-Allow-Origin: ${origin}`)
      expect(lines?.[2]).toMatch(/^Access-Control-Allow-Headers: .*Mcp-Session-Id, X-Own$/)
    })

    it('name exactly the headers that the server does not allow', () => {
      const missing = ['mcp-protocol-version', 'mcp-session-id']
      const { why, lines } = explainBlocked({ origin, requested, missing })
      expect(why).toContain('does not list MCP-Protocol-Version, Mcp-Session-Id.')
      expect(lines).toEqual([expect.stringMatching(/^Access-Control-Allow-Headers: /)])
    })

    it('blame the preflight if not even JSON can be sent', () => {
      const missing = ['content-type', 'mcp-protocol-version']
      expect(explainBlocked({ origin, requested, missing }).why).toContain('preflight request')
    })

    it('blame the response if the server allows all headers', () => {
      const { why, lines } = explainBlocked({ origin, requested, missing: [] })
      expect(why).toContain('this response has no “Access-Control-Allow-Origin”')
      expect(lines).toEqual([`Access-Control-Allow-Origin: ${origin}`])
    })
  })

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

  it('sum up the attempts of several revisions that led to no message', () => {
    const attempts = '2026-07-28: "server/discover" was refused; 2025-11-25: "initialize" was too'
    const answer = answered(200, 'text/html', '<title>Hi</title>')
    const { headline } = explain(new SdkError('HTTP', attempts), answer)
    expect(headline).toBe(`"${url}" does not respond as an MCP endpoint`)
  })

  it('send the user to the log of a server that fails a call', () => {
    const error = new SdkError('HTTP', '"tools/call" was refused', { data: { status: 502 } })
    expect(explain(error).advice).toEqual([expect.stringContaining('the log of the server')])
  })

  it.each([
    [{ openedAt: 12, isStream: true }, 'opened the stream after 12 ms and sent no message in 60 s'],
    [{ openedAt: 12, isStream: true, comments: 3, lastAt: 45_000 }, 'the last one 15.0 s before'],
    [{ openedAt: 12 }, 'came after 12 ms, but its body is not complete'],
    [{}, 'no HTTP response came in 60 s: not even its headers'],
  ])('say what a server did until the timeout: %j', (facts, expected) => {
    const none = { body: '', sentAt: 0, messages: 0, comments: 0, hasEnded: true }
    const { headline, why, advice } = explainTimeout({ ...none, ...facts }, 60_000, 60_000)
    expect(advice[0]).toContain('the handler answers in every case')
    expect(headline).toBe('The call timed out after 60 s')
    expect(why).toContain(expected)
  })

  it('name the revision with which a server answered `initialize`', () => {
    const requested = ['2025-11-25', '2025-06-18']
    const message = `The client speaks ${String(requested)}, the server 1.0`
    const data = { supported: ['1.0'], requested }
    const error = new SdkError('VERSION_MISMATCH', message, { data })
    const answer = '{"result":{"protocolVersion":"1.0"}}'
    const { headline, why } = explain(error, answered(200, 'application/json', answer))
    expect(headline).toBe('The server answered “initialize” with the revision “1.0”')
    expect(why).toBe('The revision “1.0” was never published.')
  })

  it.each([
    ['2024-10-07', 'was never published', 'the latest published revision'],
    ['2024-11-05', 'did not request that revision', 'Choose “Auto revision”'],
    ['2099-01-01', 'did not request that revision', 'Choose “Auto revision”'],
  ])(
    'tell whether the revision %s was published, although the user chose another',
    (revision, reason, remedy) => {
      const data = { supported: [revision], requested: ['2025-06-18'] }
      const error = new SdkError('VERSION_MISMATCH', 'No revision in common', { data })
      const answer = `{"result":{"protocolVersion":"${revision}"}}`
      const { why, advice } = explain(error, answered(200, 'application/json', answer))
      expect(why).toContain(reason)
      expect(advice).toEqual([expect.stringContaining(remedy)])
    },
  )

  it('give the limit of a timeout in seconds, without the name of an option', () => {
    const error = new SdkError('TIMEOUT', '"ping" timed out: "maxTimeoutMs" is 1500')
    expect(explain(error).headline).toBe('"ping" timed out after 1.5 s')
  })

  it('advise to compare the arguments with a schema only if there is one', () => {
    const error = new ProtocolError(-32_602, 'Unknown city: "K"')
    expect(explain(error).advice).toEqual([])
    expect(explain(error, { hasSchema: true }).advice).toEqual([
      expect.stringContaining('compare them with the schema'),
    ])
  })

  it('say that a page has received no session id, and how to find out why', () => {
    const error = new ProtocolError(-32_000, 'Bad Request: Mcp-Session-Id header is required')
    const { why, lines, advice, command } = explain(error, { lacksSession: url })
    expect(why).toContain('this page received no “Mcp-Session-Id”')
    expect(lines).toEqual(['Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate'])
    expect(command).toMatch(/^curl .* https:\/\/a\.example\/mcp .*"method":"initialize"/s)
    // `access-control-allow-headers` names the header as well
    const grep = " | grep -i -e '^mcp-session-id' -e '^access-control-expose-headers'"
    expect(command?.endsWith(grep)).toBe(true)
    expect(advice).toEqual([
      expect.stringContaining('only the CORS header above is missing'),
      expect.stringContaining('the server sends none'),
    ])
    // The shell replaces references only within double quotes
    expect(explain(error, { lacksSession: url, hasCredentials: true }).command).toContain(
      '-H "Authorization: Bearer $TOKEN"',
    )
    const other = new ProtocolError(-32_602, 'Unknown city')
    expect(explain(other, { lacksSession: url }).lines).toBeUndefined()
    expect(explain(error).lines).toBeUndefined()
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

  it('name the resource that the metadata of a server must have', () => {
    const resource = 'https://other.example/mcp'
    const message = `The metadata of "${url}" is for "${resource}", another server`
    const error = new AuthorizationError('resource-metadata', message)
    const title = 'Protected resource metadata'
    const said = { resource }
    const read = { id: 1, title, url, state: 'done', said, at: new Date() } as const
    const { explanation, step } = explainSignIn(error, [read], url)
    expect(step).toEqual({
      ...read,
      state: 'failed',
      summary: `“resource” is ${resource}; set it to ${url}`,
    })
    expect(explanation.advice[0]).toContain(`set it to ${url}`)
    expect(explanation.data).toMatchObject({ document: said })
  })

  it('show the code and the data of an error of the server', () => {
    const error = new ProtocolError(-32602, 'Unknown tool', { name: 'x' })
    expect(explain(error, { hasSchema: true })).toEqual({
      headline: 'Unknown tool (-32602)',
      advice: [expect.stringContaining('rejects the arguments')],
      data: { name: 'x' },
    })
  })
})
