import { describe, expect, test } from 'vitest'
import { isAuthority, isOriginIn, parseOrigin } from '../../src/patterns/origin.ts'

describe('An origin', () => {
  test.each([
    ['https://EXAMPLE.com:443/path', 'https://example.com'],
    ['http://example.com:8080', 'http://example.com:8080'],
    ['capacitor://localhost', 'capacitor://localhost'],
    ['null', 'null'],
  ])('of %s is %s', (text, origin) => {
    expect(parseOrigin(text)).toBe(origin)
  })

  test('is found in a list however it is written, and not as a part of another', () => {
    expect(isOriginIn(['https://Example.com/'], 'https://example.com')).toBe(true)
    expect(isOriginIn(['https://example.com.evil.example'], 'https://example.com')).toBe(false)
  })
})

describe('A host', () => {
  test.each(['example.com', 'a_b.example:80', '127.0.0.1:65535', '[::1]:3000', '[::ffff:1.2.3.4]'])(
    'may be written as %s',
    (text) => {
      expect(isAuthority(text)).toBe(true)
    },
  )

  test.each(['', 'a/b', 'user@host', 'host:', 'host:123456', 'a b', '::1', 'host#x', 'a,b'])(
    'is never written as %j',
    (text) => {
      expect(isAuthority(text)).toBe(false)
    },
  )
})
