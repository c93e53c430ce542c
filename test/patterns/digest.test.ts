import { describe, expect, it } from 'vitest'
import { digest } from '../../src/patterns/digest.ts'

describe('digest', () => {
  it('does not depend on the order of names, at any depth', async () => {
    const one = { a: 1, b: { c: [1, { d: 2, e: 3 }], f: null } }
    const two = { b: { f: null, c: [1, { e: 3, d: 2 }] }, a: 1 }

    expect(await digest(one)).toBe(await digest(two))
  })

  it('is the SHA-256 of the JSON in Base64url', async () => {
    expect(await digest({})).toBe('RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o')
  })

  it.each([
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { a: '1' }],
    [{ a: 1 }, { b: 1 }],
    [
      [1, 2],
      [2, 1],
    ],
    [{}, []],
    [{ a: null }, {}],
    [{}, JSON.parse('{"__proto__":{"admin":true}}')],
  ])('distinguishes %j from %j', async (one, two) => {
    expect(await digest(one)).not.toBe(await digest(two))
  })
})
