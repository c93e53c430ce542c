import { describe, expect, it } from 'vitest'
import { chooseRemote, fetchCard } from '../../src/cards/index.ts'
import type { ServerCard } from '../../src/cards/types.ts'
import type { RemoteOptions } from '../../src/cards/choose-remote.ts'
import { connect } from '../../src/presets/client.ts'
import { createHandler, createServer } from '../../src/presets/server.ts'
import { cardOf, sites } from './site.ts'

type Remotes = NonNullable<ServerCard['remotes']>

const URL_OF_SERVER = 'https://h.example/mcp'

/** Chooses an endpoint of a card that was found at h.example. */
function choose(
  remotes: readonly object[],
  options: RemoteOptions = {},
): ReturnType<typeof chooseRemote> {
  const card = cardOf('weather', { remotes: remotes as Remotes })
  return chooseRemote({ card, domain: 'h.example' }, options)
}

/** Chooses the only endpoint of a card. */
function fill(remote: object, options?: RemoteOptions): ReturnType<typeof chooseRemote> {
  return choose([{ type: 'streamable-http', url: URL_OF_SERVER, ...remote }], options)
}

/** The value of a variable with this input. */
async function valueOf(input: object, supplied?: string): Promise<string> {
  const values = supplied === undefined ? {} : { a: supplied }
  const { url } = await fill({ url: `${URL_OF_SERVER}/{a}`, variables: { a: input } }, { values })
  return url.slice(URL_OF_SERVER.length + 1)
}

const LANTERN = {
  type: 'streamable-http',
  url: 'https://{team}.h.example/mcp',
  variables: { team: { description: 'Name of the team', isRequired: true } },
  headers: [
    { name: 'X-Lantern-Region', choices: ['eu', 'us'], default: 'eu' },
    {
      ...{ name: 'Authorization', isRequired: true, isSecret: true, value: 'Bearer {key}' },
      variables: { key: { description: 'API key', isRequired: true, isSecret: true } },
    },
  ],
}

describe('The inputs of an endpoint', () => {
  it('fill its URL and headers [E-CARD-030]', async () => {
    expect(await choose([LANTERN], { values: { team: 'red', key: 'k1' } })).toEqual({
      url: 'https://red.h.example/mcp',
      headers: { 'X-Lantern-Region': 'eu', Authorization: 'Bearer k1' },
    })
  })

  it('cannot be changed if the card sets their value [E-CARD-034]', async () => {
    expect(await valueOf({ value: 'a' }, 'b')).toBe('a')
  })

  it('prefer the value of the user to the default [E-CARD-035]', async () => {
    expect(await valueOf({ default: 'a' }, 'b')).toBe('b')
    expect(await valueOf({ default: 'a' })).toBe('a')
  })

  it('accept only one of their choices [E-CARD-036]', async () => {
    expect(await valueOf({ choices: ['a', 'b'] }, 'b')).toBe('b')
    await expect(valueOf({ choices: ['a', 'b'] }, 'hunter2')).rejects.toThrow('not one of a, b')
    await expect(valueOf({ choices: ['a'], default: 'c' })).rejects.toThrow('not one of a')
    const secret = valueOf({ choices: ['a', 'b'], isSecret: true }, 'hunter2')
    await expect(secret).rejects.not.toThrow('hunter2')
  })

  it('accept only values of their format [E-CARD-037]', async () => {
    for (const value of ['0', '-1.5', '10'])
      expect(await valueOf({ format: 'number' }, value)).toBe(value)
    for (const value of ['1e3', '0x1', 'abc', '', '1.']) {
      await expect(valueOf({ format: 'number' }, value)).rejects.toThrow('not a number')
    }
    expect(await valueOf({ format: 'boolean' }, 'true')).toBe('true')
    for (const value of ['yes', 'TRUE']) {
      await expect(valueOf({ format: 'boolean' }, value)).rejects.toThrow('not a boolean')
    }
  })

  it('are named together if they have no value [E-CARD-038]', async () => {
    const remote = {
      url: 'https://{a}.h.example/{b}',
      variables: { a: { isRequired: true }, b: { isRequired: true } },
      headers: [{ name: 'X-Key', isRequired: true }, { name: 'X-Other' }],
    }
    const error = await fill(remote).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'INVALID_USE', data: { missing: ['a', 'b', 'X-Key'] } })
    expect(String(error)).toContain('"a", "b", "X-Key"')
    expect(await choose([LANTERN]).catch((thrown: unknown) => thrown)).toMatchObject({
      data: { missing: ['team', 'key'] },
    })
  })

  it('leave no placeholder unfilled [E-CARD-039]', async () => {
    const remote = { url: 'https://{a}.h.example/{b}', variables: { a: {} } }
    await expect(fill(remote, { values: { a: 'x' } })).rejects.toMatchObject({
      data: { missing: ['b'] },
    })
    const header = { headers: [{ name: 'X-Key', isRequired: true, value: 'Bearer {key}' }] }
    await expect(fill(header)).rejects.toMatchObject({ data: { missing: ['key'] } })
    const optional = { headers: [{ name: 'X-Key', value: 'Bearer {key}', variables: { key: {} } }] }
    expect((await fill(optional)).headers).toEqual({})
  })

  it('lead to HTTPS, or to a loopback address [E-CARD-040]', async () => {
    const variables = { base: {} }
    for (const base of ['javascript:alert(1)', 'file:///etc/passwd', 'http://h.example', 'x']) {
      const filled = fill(
        { url: '{base}/mcp', variables },
        { values: { base }, allowUrl: () => true },
      )
      await expect(filled).rejects.toMatchObject({ code: 'DENIED' })
    }
    const options = { values: { base: 'http://localhost:8000/' }, allowUrl: () => true }
    expect((await fill({ url: '{base}/mcp', variables }, options)).url).toBe(
      'http://localhost:8000/mcp',
    )
    const whole = { values: { base: 'https://h.example/a/?b' } }
    expect((await fill({ url: '{base}', variables }, whole)).url).toBe('https://h.example/a/?b')
  })

  it.each([
    'evil.example/',
    'a@evil.example',
    'x#',
    'x?',
    'a:1',
    'a\\b',
    'a b',
    '',
    '.',
    'a.',
    '[::1]',
    'é',
  ])('do not change the host with the value %s [E-CARD-041]', async (a) => {
    for (const url of ['https://{a}.h.example/mcp', 'https://x{a}.h.example/mcp']) {
      const filled = fill({ url, variables: { a: {} } }, { values: { a }, allowUrl: () => true })
      await expect(filled).rejects.toThrow('The value of "a" is not part of a host or path')
    }
  })

  it('are encoded in paths and queries [E-CARD-041]', async () => {
    const url = 'https://h.example/{a}/mcp?x={a}'
    const values = { a: '../b?c#d&{a}' }
    const encoded = encodeURIComponent(values.a)
    expect((await fill({ url, variables: { a: {} } }, { values })).url).toBe(
      `https://h.example/${encoded}/mcp?x=${encoded}`,
    )
    for (const a of ['..', '.', '']) {
      await expect(fill({ url, variables: { a: {} } }, { values: { a } })).rejects.toThrow('"a"')
    }
  })

  it('put nothing into headers that could change the request [E-CARD-042]', async () => {
    for (const value of ['a\r\nb', '\u0000', '\u007f', 'a\nb', '☃']) {
      const headers = [{ name: 'X-Key', isRequired: true }]
      await expect(fill({ headers }, { values: { 'X-Key': value } })).rejects.toThrow(
        'not a header value',
      )
    }
    const reserved = [
      ...['Host', 'Content-Length', 'Content-Type', 'Accept', 'Origin', 'Cookie', 'Connection'],
      ...['Mcp-Session-Id', 'MCP-Protocol-Version', 'mcp-method', 'hOST', 'a b', 'a:'],
    ]
    for (const name of reserved) {
      for (const each of [name, name.toUpperCase(), name.toLowerCase()]) {
        await expect(fill({ headers: [{ name: each, value: 'x' }] })).rejects.toThrow(
          'not permitted',
        )
      }
    }
  })

  it('that are secret appear in no error [E-CARD-043]', async () => {
    const secret = 'hunter2\n'
    const inputs = [{ format: 'number' }, { choices: ['a'] }, {}]
    for (const input of inputs) {
      const headers = [{ name: 'X-Key', isSecret: true, ...input }]
      const error: unknown = await fill({ headers }, { values: { 'X-Key': secret } }).catch(
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(Error)
      expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('hunter2')
    }
  })

  it('may be file paths only where the application says so, and supplies them [E-CARD-044]', async () => {
    const remote = {
      url: `${URL_OF_SERVER}/{a}`,
      variables: { a: { format: 'filepath', default: 'x' } },
    }
    const values = { a: 'file' }
    await expect(fill(remote, { values })).rejects.toThrow('not a filepath that can be used here')
    await expect(fill(remote, { filePaths: true })).rejects.toMatchObject({
      data: { missing: ['a'] },
    })
    expect((await fill(remote, { values, filePaths: true })).url).toBe(`${URL_OF_SERVER}/file`)
  })

  it('ignore inherited members of the values', async () => {
    const remote = { url: `${URL_OF_SERVER}/{toString}` }
    await expect(fill(remote)).rejects.toMatchObject({ data: { missing: ['toString'] } })
  })
})

describe('The endpoint that is chosen', () => {
  const http = (url: string, ...versions: string[]): object => ({
    ...{ type: 'streamable-http', url: `https://${url}.h.example/mcp` },
    ...(versions.length > 0 && { supportedProtocolVersions: versions }),
  })
  const sse = { type: 'sse', url: 'https://sse.h.example/sse' }
  const chosen = async (...remotes: object[]): Promise<string> =>
    new URL((await choose(remotes)).url).hostname.split('.', 1)[0] ?? ''

  it('is the first one of Streamable HTTP with a common version, or else of HTTP+SSE [E-CARD-045]', async () => {
    expect(await chosen(sse, http('a'))).toBe('a')
    expect(await chosen(http('a', '2099-01-01'), http('b', '2099-01-01', '2026-07-28'))).toBe('b')
    expect(await chosen(sse)).toBe('sse')
    expect(await chosen(http('a', '2099-01-01'), sse)).toBe('sse')
  })

  it('may list no versions [E-CARD-046]', async () => {
    expect(await chosen(http('a'), http('b', '2026-07-28'))).toBe('a')
  })

  it('is none if no version is common, and the error lists those of both [E-CARD-047]', async () => {
    const error = await choose([http('a', '2099-01-01')]).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'VERSION_MISMATCH' })
    expect(String(error)).toMatch(/2099-01-01, and the client 2026-07-28, 2025-11-25/)
    const old = choose([http('a', '2026-07-28')], { revisions: ['2025-06-18'] })
    await expect(old).rejects.toThrow('supports 2026-07-28, and the client 2025-06-18')
    await expect(choose([])).rejects.toMatchObject({ code: 'UNSUPPORTED' })
  })

  it('is of the domain that the application asked for, or one that it allows [E-CARD-080] [E-CARD-081]', async () => {
    const urls = [
      'https://evil.example/mcp',
      'https://h.example.evil.example/mcp',
      'https://10.0.0.1/mcp',
      'https://evilh.example/',
    ]
    for (const url of urls) await expect(fill({ url })).rejects.toMatchObject({ code: 'DENIED' })
    expect((await fill({ url: 'https://api.h.example/mcp' })).url).toBe('https://api.h.example/mcp')
    const allowUrl = ({ hostname }: URL): boolean => hostname === 'partner.example'
    expect((await fill({ url: 'https://partner.example/mcp' }, { allowUrl })).url).toBe(
      'https://partner.example/mcp',
    )
    await expect(fill({ url: URL_OF_SERVER }, { allowUrl })).rejects.toMatchObject({
      code: 'DENIED',
    })
  })

  it('gives the client a URL and headers, and nothing else [E-CARD-080]', async () => {
    const remote = {
      scopes: ['admin'],
      auth: 'none',
      allowedOrigins: ['*'],
      issuer: 'https://evil.example',
    }
    expect(await fill(remote)).toEqual({ url: URL_OF_SERVER, headers: {} })
  })

  it('is connected to in the revision that both support, whatever the card lists [E-CARD-048]', async () => {
    const handle = createHandler(createServer({ name: 'weather', version: '1.0.0' }))
    const url = 'https://weather.example.com/mcp'
    const remotes: Remotes = [
      { type: 'streamable-http', url, supportedProtocolVersions: ['2025-11-25'] },
    ]
    const { fetch } = sites({ [`${url}/server-card`]: cardOf('weather', { remotes }) })
    const endpoint = await chooseRemote(await fetchCard(`${url}/server-card`, { fetch }))
    await using client = await connect(endpoint.url, {
      headers: endpoint.headers,
      fetch: (address, init) => handle(new Request(address, init)),
    })
    expect(client.revision).toBe('2026-07-28')
  })
})
