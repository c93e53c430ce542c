import { expect, it } from 'vitest'
import { parseUrl } from '../../src/patterns/url.ts'

it('A URL is parsed, also against a base; text that is no URL gives undefined', () => {
  expect(parseUrl('HTTPS://a.example:443/b')?.href).toBe('https://a.example/b')
  expect(parseUrl('../c', 'https://a.example/b/')?.href).toBe('https://a.example/c')
  expect(parseUrl('c')).toBeUndefined()
  expect(parseUrl('')).toBeUndefined()
})

it('A URL with letters beyond ASCII is parsed after many calls as at first', () => {
  for (let call = 0; call < 20_000; call++) {
    if (!parseUrl('https://bücher.example/é')) throw new Error(`Not parsed in call ${call}`)
  }
  expect(parseUrl('https://bücher.example/é')?.host).toBe('xn--bcher-kva.example')
})
