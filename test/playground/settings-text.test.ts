// The texts that people write into the settings of a server, and the secrets among them.
import { describe, expect, it } from 'vitest'
import { isSecretName, redact, withoutSecrets } from '../../examples/playground/page/secrets.ts'
import {
  formatHeaders,
  parseHeaders,
  parseRoots,
  parseTimeout,
} from '../../examples/playground/page/settings/parse.ts'

describe('Settings of the playground', () => {
  it('take one header in each line', () => {
    const value = [
      { name: 'X-Api-Key', value: 'a: b' },
      { name: 'tenant', value: '4' },
    ]
    const text = 'X-Api-Key: a: b\n\n  tenant:4 \n'
    expect(parseHeaders(text)).toEqual({ value })
    expect(parseHeaders(formatHeaders(value))).toEqual({ value })
  })

  it.each([
    ['no colon', /“no colon” is not a header/],
    ['a b: c', /“a b: c” is not a header/],
    ['ok: 1\nempty:', /“empty:” is not a header/],
    ['Mcp-Session-Id: 1', /protocol itself sets the header “Mcp-Session-Id”/],
    ['accept: text/html', /protocol itself sets the header “accept”/],
  ])('say why %j is not a list of headers', (text, problem) => {
    expect(parseHeaders(text)).toEqual({ problem: expect.stringMatching(problem) })
  })

  it('take file URIs as roots', () => {
    const value = ['file:///home/ada', 'file:///C:/a%20b']
    expect(parseRoots(value.join('\n'))).toEqual({ value })
    expect(parseRoots('/home/ada')).toEqual({ problem: expect.stringContaining('“/home/ada”') })
  })

  it('take a timeout above 0, or none', () => {
    expect(parseTimeout(' ')).toEqual({ value: undefined })
    expect(parseTimeout('1500')).toEqual({ value: 1500 })
    for (const text of ['0', '-1', '1.5', 'soon']) {
      expect(parseTimeout(text)).toEqual({ problem: expect.stringContaining(`“${text}”`) })
    }
  })
})

describe('Secrets of the playground', () => {
  it.each([
    'authorization',
    'X-Api-Key',
    'access_token',
    'clientSecret',
    'password',
    'code',
    'sig',
  ])('are recognized by the name %s', (name) => expect(isSecretName(name)).toBe(true))

  it.each(['maxTokens', 'token_endpoint', 'code_challenge', 'keyboard', 'author', 'zipcode'])(
    'are not suspected by the name %s',
    (name) => expect(isSecretName(name)).toBe(false),
  )

  it('are removed from addresses, and nothing else is', () => {
    const address = 'https://ada:hunter2@a.example/mcp?tenant=4&api_key=x&api_key=y#z'
    expect(withoutSecrets(address)).toBe('https://a.example/mcp?tenant=4')
    for (const same of ['shop.example', 'http://127.0.0.1:1/secret/mcp?q=%20', 'not / a URL', '']) {
      expect(withoutSecrets(same)).toBe(same)
    }
  })

  it('are replaced in documents', () => {
    const document = {
      issuer: 'a',
      access_token: 'x',
      nested: [{ client_secret: 'y', scope: 'z' }],
    }
    expect(redact(document)).toEqual({
      issuer: 'a',
      access_token: '…',
      nested: [{ client_secret: '…', scope: 'z' }],
    })
  })
})
