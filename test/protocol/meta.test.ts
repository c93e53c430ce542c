import { describe, expect, it } from 'vitest'
import { isMetaKey, isReservedMetaKey } from '../../src/protocol/meta.ts'

describe('keys of _meta', () => {
  it.each([
    'progressToken',
    'com.example/foo',
    'com.example.mcp/x',
    'a-b.c1/na_me.v-2',
    'com.example/',
    'a-1.b2/x',
    'a-b_c.d',
  ])(
    'such as %s are valid [M-META-023] [M-META-024] [L-COM-002] [L-COM-003] [L-COM-004]',
    (key) => {
      expect(isMetaKey(key)).toBe(true)
    },
  )

  it.each([
    '1com.example/x',
    'com.-ex/x',
    'com.ex-/x',
    'com..ex/x',
    'com.example/_x',
    'com.example/x-',
    '/x',
    'a./x',
    '1a/x',
    'a-/x',
    'a_b/x',
    'com.x/a.',
    '',
  ])(
    'such as "%s" are invalid [M-META-023] [M-META-024] [L-COM-002] [L-COM-003] [L-COM-004]',
    (key) => {
      expect(isMetaKey(key)).toBe(false)
    },
  )

  it.each([
    ['io.modelcontextprotocol/x', true],
    ['dev.mcp/x', true],
    ['org.modelcontextprotocol.api/x', true],
    ['com.mcp.tools/x', true],
    ['com.example.mcp/x', false],
    ['com.example/x', false],
    ['mcp', false],
  ])('such as %s are reserved for the protocol: %s', (key, reserved) => {
    expect(isReservedMetaKey(key)).toBe(reserved)
  })

  it.each<[string, boolean, boolean]>([
    ['mcp.dev/x', true, false],
    ['dev.mcp/x', false, true],
    ['com.example.mcp/x', false, false],
    ['com.mcp.tools/x', true, true],
    ['io.modelcontextprotocol/x', false, true],
    ['modelcontextprotocol.io/x', true, false],
  ])(
    'such as %s are reserved in 2025-06-18: %s, and in 2025-11-25: %s [L-COM-005]',
    (key, before, since) => {
      expect(isReservedMetaKey(key, '2025-06-18')).toBe(before)
      expect(isReservedMetaKey(key, '2025-11-25')).toBe(since)
      expect(isReservedMetaKey(key, '2025-03-26')).toBe(false)
    },
  )
})
