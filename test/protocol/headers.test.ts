import { describe, expect, test } from 'vitest'
import { decodeHeaderValue, encodeHeaderValue } from '../../src/protocol/headers.ts'

const vectors: [text: string, header: string][] = [
  ['us-west1', 'us-west1'],
  ['', ''],
  ['a b', 'a b'],
  ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
  [' padded ', '=?base64?IHBhZGRlZCA=?='],
  ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
  [' us-west1', '=?base64?IHVzLXdlc3Qx?='],
  ['日本語', '=?base64?5pel5pys6Kqe?='],
  ['\tindented', '=?base64?CWluZGVudGVk?='],
  ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
]

describe('header values', () => {
  test.each(vectors)(
    'such as %j are sent as %j [M-HDR-024] [M-HDR-027] [M-HDR-029] [M-HDR-053]',
    (text, header) => {
      expect(encodeHeaderValue(text)).toBe(header)
      expect(decodeHeaderValue(header)).toBe(text)
    },
  )

  test('are encoded if no header can carry them [M-HDR-054]', () => {
    for (const text of ['a\r\nX: y', 'a\0b', 'a\tb', 'é', '\u{1F600}', 'a\u007f']) {
      expect(encodeHeaderValue(text)).toMatch(/^[ -~]+$/)
      expect(decodeHeaderValue(encodeHeaderValue(text))).toBe(text)
    }
  })

  test('with a marker in another case, or without its end, are literal text [M-HDR-028]', () => {
    for (const text of ['=?BASE64?Zm9v?=', '=?base64?Zm9v', 'SGVsbG8=', '=?base64?=']) {
      expect(decodeHeaderValue(text)).toBe(text)
      expect(encodeHeaderValue(text)).toBe(text)
    }
  })

  test('in Base64 without padding, with foreign characters or not of UTF-8 are rejected [M-HDR-029]', () => {
    for (const value of ['=?base64?SGVsbG8?=', '=?base64?SGVs!!!bG8=?=', '=?base64?/w==?=']) {
      expect(decodeHeaderValue(value)).toBeUndefined()
    }
  })

  test('are read without the whitespace around them [M-HDR-022]', () => {
    for (const value of [' \tfoo ', '\t =?base64?Zm9v?= \t']) {
      const sent = new Headers([['mcp-name', value]]).get('mcp-name')
      expect(decodeHeaderValue(sent ?? '')).toBe('foo')
    }
  })

  test('are decoded even if they did not need to be encoded', () => {
    expect(decodeHeaderValue('=?base64?Zm9v?=')).toBe('foo')
    expect(decodeHeaderValue('=?base64??=')).toBe('')
  })

  test('are the same after encoding and decoding random texts', () => {
    let seed = 1
    const random = (below: number): number => {
      seed = (seed * 48271) % 2147483647
      return seed % below
    }
    for (let round = 0; round < 500; round++) {
      const points = Array.from({ length: random(12) }, () =>
        random(4) ? random(0x80) : random(0xd800),
      )
      const text = String.fromCodePoint(...points)
      expect(decodeHeaderValue(encodeHeaderValue(text))).toBe(text)
    }
  })
})
