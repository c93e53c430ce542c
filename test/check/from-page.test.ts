// What a Web page finds when it checks a server: it cannot choose its origin, nor read all headers.
import { describe, expect, it } from 'vitest'
import { checkEndpoint } from '../../src/check/check-server.ts'
import { finding, type Finding } from '../../src/check/finding.ts'
import { reportOf } from '../../src/check/report.ts'
import { groupFindings } from '../../src/check/rule-findings.ts'
import { connect } from '../../src/presets/client.ts'
import { createHandler, createServer, statefulSessions } from '../../src/presets/server.ts'

type Fetch = (request: Request) => Promise<Response>

/** Checks a server at a URL, of whose responses a page can read only some headers. */
async function checkFromPage(
  url: string,
  serve: Fetch,
  readable: readonly string[] = ['content-type', 'mcp-session-id'],
): Promise<Finding[]> {
  const fetch = async (at: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await serve(new Request(at, init))
    const headers = [...response.headers].filter(([name]) => readable.includes(name))
    const { status, body } = response
    return new Response(body, { status, headers })
  }
  const options = { url, headers: new Headers(), fetch, timeoutMs: 5_000, runsInPage: true }
  const found: Finding[] = []
  for await (const each of checkEndpoint(options, () => connect(url, { fetch }))) found.push(each)
  return found
}

describe('A check from a page', () => {
  const handle = createHandler(createServer({ name: 'good', version: '1.0.0' }), {
    sessions: statefulSessions(),
  })
  const serve: Fetch = async (request) => handle(request)

  it.each(['http://127.0.0.1:8787/mcp', 'https://mcp.example/mcp'])(
    'finds nothing on a server of ours at %s',
    async (url) => {
      expect(await checkFromPage(url, serve)).toEqual([])
    },
  )

  it('reports that the id of the session is not exposed, and nothing that follows from it', async () => {
    const legacy: Fetch = async (request) => {
      const text = await request.clone().text()
      return text.includes('server/discover') ? new Response(null, { status: 400 }) : serve(request)
    }
    const found = await checkFromPage('https://mcp.example/mcp', legacy, ['content-type'])
    expect(found.map(({ rule }) => rule)).toEqual(['cors-expose'])
  })

  it('reports the same if the server accepts notifications without the id', async () => {
    const server = createServer({ name: 'good', version: '1.0.0' })
    server.tool('nothing', {}, () => '')
    const withTool = createHandler(server, { sessions: statefulSessions() })
    const legacy: Fetch = async (request) => {
      const text = await request.clone().text()
      if (text.includes('server/discover')) return new Response(null, { status: 400 })
      if (text.includes('notifications/')) return new Response(null, { status: 202 })
      if (!text.includes('"tools/list"') || request.headers.has('mcp-session-id'))
        return withTool(request)
      const error = { code: -32000, message: 'Bad Request: No valid session ID provided' }
      return Response.json({ jsonrpc: '2.0', id: 1, error }, { status: 400 })
    }
    const found = await checkFromPage('https://mcp.example/mcp', legacy, ['content-type'])
    expect(found).toEqual([
      {
        rule: 'cors-expose',
        severity: 'error',
        message: expect.stringMatching(
          /this page received no "Mcp-Session-Id".* Send "Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate"\. The rest was not checked$/,
        ) as string,
      },
    ])
  })

  it('reports the requests that the browser blocks because of their headers', async () => {
    const found = await checkFromPage('https://mcp.example/mcp', async (request) => {
      if (request.headers.has('mcp-protocol-version')) throw new TypeError('Failed to fetch')
      return serve(request)
    })
    expect(found.map(({ rule }) => rule)).toEqual(['cors-headers'])
    expect(found[0]?.message).toMatch(
      /^"Access-Control-Allow-Headers" does not list MCP-Protocol-Version, so browsers block .* Send "Access-Control-Allow-Headers: Content-Type, Auth/,
    )
  })

  it.each([
    ['cors-methods', 'Send "Access-Control-Allow-Methods: GET, POST, DELETE"', 'DELETE'],
    ['cors-origin', 'The response to "edgewise/unknown" has no', 'edgewise/unknown'],
  ])('reports as %s what it blocks for another reason', async (rule, message, blocked) => {
    const found = await checkFromPage('https://mcp.example/mcp', async (request) => {
      const text = request.method + (await request.clone().text())
      if (text.includes(blocked)) throw new TypeError('Failed to fetch')
      return serve(request)
    })
    expect(found).toMatchObject([{ rule, message: expect.stringContaining(message) as string }])
  })

  it('does not say that a document is missing that the page cannot read', async () => {
    const found = await checkFromPage('https://mcp.example/mcp', ({ url }) =>
      url === 'https://mcp.example/mcp'
        ? Promise.resolve(new Response(null, { status: 401 }))
        : Promise.reject(new TypeError('Failed to fetch')),
    )
    expect(found.map(({ rule, message }) => [rule, message])).toEqual([
      ['cors-expose', 'Pages cannot read WWW-Authenticate, unless it is missing'],
      [
        'resource-metadata',
        expect.stringMatching(
          /^Pages can read no resource metadata at https.*host does not exist.*\(404\), or the response has no "Access-Control-Allow-Origin"$/,
        ),
      ],
      ['token-required', expect.stringMatching(/The rest was not checked$/)],
    ])
  })

  it('says that a document is missing if the page can read that it is', async () => {
    const found = await checkFromPage('https://mcp.example/mcp', ({ url }) =>
      Promise.resolve(
        new Response(null, { status: url === 'https://mcp.example/mcp' ? 401 : 404 }),
      ),
    )
    expect(found).toContainEqual({
      rule: 'resource-metadata',
      severity: 'warning',
      message: expect.stringMatching(/^There is no resource metadata at \S+ and \S+$/) as string,
    })
  })
})

describe('A report', () => {
  const findings = [
    finding('tool-annotations', 'Both annotations are missing', 'a'),
    finding('tool-schema', 'It is missing', 'b'),
    finding('tool-annotations', 'Both annotations are missing', 'c'),
  ]

  it('groups findings by severity, rule and message', () => {
    expect(groupFindings(findings)).toMatchObject([
      { rule: 'tool-schema', severity: 'error', messages: [{ subjects: ['b'] }] },
      { rule: 'tool-annotations', severity: 'note', messages: [{ subjects: ['a', 'c'] }] },
    ])
  })

  it('begins with the errors that keep clients from working', () => {
    const errors = [
      finding('invalid-version-header', 'It was answered with 200'),
      finding('session-lost', 'It was lost'),
      finding('list-slow', 'It took 3000 ms'),
    ]
    expect(groupFindings(errors).map(({ rule }) => rule)).toEqual([
      'session-lost',
      'invalid-version-header',
      'list-slow',
    ])
  })

  it('has at most 100 findings of each rule and severity, and counts the others', () => {
    const many = Array.from({ length: 150 }, (_, index) => [
      finding('tool-name', `The name is "${index} "`, `${index} `),
      finding('parse-error', `It was answered with ${index}`, undefined, 'note'),
      ...(index < 100 ? [finding('parse-error', `It was answered with ${index}`)] : []),
    ]).flat()
    const report = reportOf('https://mcp.example/mcp', many)
    expect(report.findings).toHaveLength(300)
    expect(report.findings.at(-1)).toMatchObject({ message: 'It was answered with 99' })
    expect(report.omitted).toEqual([
      { rule: 'tool-name', severity: 'warning', count: 50 },
      { rule: 'parse-error', severity: 'note', count: 50 },
    ])
  })

  it('has the requirement and the section of the specification of each finding', () => {
    const report = reportOf('https://mcp.example/mcp', findings)
    expect(report.server).toBe('https://mcp.example/mcp')
    expect(report.findings[0]).toMatchObject({ subject: 'a', severity: 'note' })
    for (const { requirement, url } of report.findings) {
      expect(requirement).toMatch(/\.$/)
      expect(url).toMatch(/^https:/)
    }
  })
})
