import { describe, expect, it } from 'vitest'
import { createSealer } from '../../src/patterns/sealed-state.ts'

const secret = 'a secret of more than sixteen characters'
const other = 'another secret of more than sixteen'

describe('createSealer', () => {
  const sealer = createSealer(secret)

  it.each([
    [{ answers: [{ action: 'accept' }], step: 2 }],
    ['emoji 🙂 and 世界'],
    [null],
    [0],
    [false],
    [[]],
    [{ ['__proto__']: 1 }],
  ])('unseals its own values: %j', async (value) => {
    const opened = await sealer.open(await sealer.seal(value))

    expect(opened).toEqual(value)
    expect(JSON.stringify(opened)).toBe(JSON.stringify(value))
  })

  it('writes text that needs no escaping and shows nothing of the value [M-MRTR-027]', async () => {
    const text = await sealer.seal({ password: 'hunter2-hunter2' })

    expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(atob(text.replaceAll('-', '+').replaceAll('_', '/'))).not.toContain('hunter2')
  })

  it('gives another text each time', async () => {
    expect(await sealer.seal('same')).not.toBe(await sealer.seal('same'))
  })

  it('refuses a text of which any character was changed [M-MRTR-019]', async () => {
    const text = await sealer.seal({ user: 'alice', n: 1 })
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (let i = 0; i < text.length; i++) {
      for (const step of [1, 2, 17, 63]) {
        const changed = alphabet[(alphabet.indexOf(text[i]!) + step) % 64]!
        const tampered = text.slice(0, i) + changed + text.slice(i + 1)
        expect(await sealer.open(tampered), tampered).toBeUndefined()
      }
    }
  })

  it('refuses a text that was shortened or lengthened [M-MRTR-019]', async () => {
    const text = await sealer.seal('state')
    for (let length = 0; length < text.length; length++) {
      expect(await sealer.open(text.slice(0, length))).toBeUndefined()
    }
    for (const extra of ['A', 'AA', 'AAAA', '=', '==', ' ', '\n']) {
      expect(await sealer.open(text + extra)).toBeUndefined()
    }
  })

  it.each([
    ['nothing', ''],
    ['text', 'hello, world'],
    ['JSON', '{"user":"alice"}'],
    ['the version byte alone', 'AQ'],
    ['padding', 'AQ=='],
    ['text beyond Latin-1', '世界🙂'],
    ['a lone surrogate', '\ud800'],
    ['zero bytes', '\0\0\0\0'],
    ['a long run of valid characters', 'A'.repeat(200_000)],
  ])('refuses %s without throwing [M-MRTR-018]', async (_, text) => {
    expect(await sealer.open(text)).toBeUndefined()
  })

  it('opens in another instance that has the secret [M-MRTR-026]', async () => {
    expect(await createSealer(secret).open(await sealer.seal('state'))).toBe('state')
  })

  it('refuses a text of another secret', async () => {
    expect(await createSealer(other).open(await sealer.seal('state'))).toBeUndefined()
  })

  it('seals with the first of several secrets and opens with all [M-MRTR-026]', async () => {
    const rotated = createSealer([other, secret])

    expect(await rotated.open(await sealer.seal('old'))).toBe('old')
    expect(await rotated.open(await rotated.seal('new'))).toBe('new')
    expect(await createSealer(other).open(await rotated.seal('new'))).toBe('new')
    expect(await sealer.open(await rotated.seal('new'))).toBeUndefined()
  })

  it('has a random key when no secret is given', async () => {
    const [first, second] = [createSealer(), createSealer()]
    const text = await first.seal('state')

    expect(await first.open(text)).toBe('state')
    expect(await second.open(text)).toBeUndefined()
  })

  it.each([
    ['an empty secret', ''],
    ['a short secret', 'fifteen letters'],
    ['an empty list', []],
    ['a list with a short secret', [secret, 'short']],
  ])('throws on %s', (_, secrets) => {
    expect(() => createSealer(secrets)).toThrow(expect.objectContaining({ code: 'INVALID_USE' }))
  })

  it('reports a secret that is missing in the environment', async () => {
    const environment: Record<string, string> = {}
    const { MCP_SECRET: missing } = environment as { MCP_SECRET: string }
    const message = 'Cannot seal state: each secret must have at least 16 characters'
    expect(() => createSealer([missing, secret])).toThrow(message)
    await expect(createSealer(async () => missing).seal('state')).rejects.toThrow(message)
  })
})
