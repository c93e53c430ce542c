import { describe, expect, test } from 'vitest'
import { isBrowserLoopback, isLoopback } from '../../src/patterns/loopback.ts'

describe('A host', () => {
  test.each([
    ['localhost', true, true],
    ['127.0.0.1', true, true],
    ['127.200.1.9', true, true],
    ['[::1]', true, true],
    ['app.localhost', false, true],
    ['localhost.evil.example', false, false],
    ['127.evil.example', false, false],
    ['xlocalhost', false, false],
  ])('called %s is this machine: %s; in browsers: %s', (host, everywhere, inBrowsers) => {
    expect(isLoopback(host)).toBe(everywhere)
    expect(isBrowserLoopback(host)).toBe(inBrowsers)
  })
})
