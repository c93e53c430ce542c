import { describe, expect, test } from 'vitest'
import { requireKnown } from '../../src/patterns/known-options.ts'

describe('Options with an unknown name', () => {
  const names = { port: 1, path: 1 }

  test('are refused with the names that there are', () => {
    expect(() => requireKnown('The server', { port: 1, pth: '/' }, names)).toThrow(
      new TypeError('The server has no option "pth"; it has port, path'),
    )
  })

  test('are refused when the name is that of a member of every object', () => {
    expect(() => requireKnown('The server', { toString: 1 }, names)).toThrow(TypeError)
  })

  test('are accepted when all names are known, with any values', () => {
    expect(() => requireKnown('The server', { path: undefined }, names)).not.toThrow()
    expect(() => requireKnown('The server', {}, names)).not.toThrow()
  })
})
