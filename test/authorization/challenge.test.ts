// https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1 and section 9.5 of the requirements
import { describe, expect, it } from 'vitest'
import { parseChallenges } from '../../src/authorization/challenge.ts'

const url = 'https://h/.well-known/oauth-protected-resource'

/** What counts of a header: the first challenge that is about tokens. */
function bearer(header: string): Record<string, string> | undefined {
  const found = parseChallenges(header).find(({ scheme }) => scheme === 'bearer')
  return found && Object.fromEntries(found.params)
}

describe('the challenges of a WWW-Authenticate header', () => {
  it.each([
    [`Bearer resource_metadata="${url}", scope="a b"`, { resource_metadata: url, scope: 'a b' }],
    [`Bearer scope="a b", resource_metadata="${url}"`, { resource_metadata: url, scope: 'a b' }],
    [`bearer resource_metadata="${url}"`, { resource_metadata: url }],
    [`BEARER Resource_Metadata="${url}"`, { resource_metadata: url }],
    [
      `Basic realm="x", Bearer error="insufficient_scope", scope="c"`,
      { error: 'insufficient_scope', scope: 'c' },
    ],
    [`Bearer realm="a, b", scope="c"`, { realm: 'a, b', scope: 'c' }],
    [
      `Bearer realm="say \\"hi\\", scope=\\"x\\"", scope="c"`,
      { realm: 'say "hi", scope="x"', scope: 'c' },
    ],
    ['Bearer', {}],
    ['Bearer abc==', {}],
    [`Negotiate abc==, Bearer scope="c"`, { scope: 'c' }],
    [`Negotiate, Bearer scope="c"`, { scope: 'c' }],
    [`bearer resource_metadata = "${url}"`, { resource_metadata: url }],
    [`Bearer\tscope="c"`, { scope: 'c' }],
    [
      `Basic realm="a, b", Bearer error="invalid_token", scope="x y", resource_metadata=${url}`,
      { error: 'invalid_token', scope: 'x y', resource_metadata: url },
    ],
    [
      `Bearer resource_metadata=${url}?a=b, scope=c`,
      { resource_metadata: `${url}?a=b`, scope: 'c' },
    ],
    [
      `Bearer realm="resource_metadata=\\"https://evil.example\\""`,
      { realm: 'resource_metadata="https://evil.example"' },
    ],
    [`Bearer scope="first", scope="second"`, { scope: 'first' }],
    [`Bearer scope="a" error="invalid_token"`, { scope: 'a', error: 'invalid_token' }],
    [`, ,, Bearer ,scope="c",,`, { scope: 'c' }],
    [`Bearer scope=""`, { scope: '' }],
    [`Bearer scope="never closed`, {}],
  ])('are parsed from %s [L-AUTH-015] [M-ADISC-010]', (header, params) => {
    expect(bearer(header)).toEqual(params)
  })

  it.each(['', 'Digest realm="x", nonce="y"', '=', '"', ','.repeat(10_000), 'Basic YTpi'])(
    'contain no Bearer challenge in %.20s [L-AUTH-015] [M-ADISC-010]',
    (header) => {
      expect(bearer(header)).toBeUndefined()
    },
  )

  it('are parsed from two header lines, which arrive as one [L-AUTH-015] [M-ADISC-010]', () => {
    const headers = new Headers()
    headers.append('www-authenticate', 'Basic realm="x"')
    headers.append('www-authenticate', 'Bearer scope="c"')
    const schemes = parseChallenges(headers.get('www-authenticate') ?? '').map(
      ({ scheme }) => scheme,
    )
    expect(schemes).toEqual(['basic', 'bearer'])
  })

  it('keep the data of the others apart [L-AUTH-015] [M-ADISC-010]', () => {
    const [digest, second] = parseChallenges('Digest nonce="n", realm="r", Bearer scope=s')
    expect(digest?.params.get('scope')).toBeUndefined()
    expect(second?.params.get('realm')).toBeUndefined()
  })

  it('are parsed in time linear in the length of the header [L-AUTH-015] [M-ADISC-010]', () => {
    // Would take minutes if it did
    for (const piece of [',', ' ', 'a=', '"\\', 'a ', 'a="b" '])
      parseChallenges(piece.repeat(50_000))
  })
})
