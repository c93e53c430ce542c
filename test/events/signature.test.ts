import { describe, expect, test, vi } from 'vitest'
import {
  createWebhookSecret,
  decodeWebhookSecret,
  isTimely,
  signWebhook,
  verifyWebhook,
} from '../../src/events/signature.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const bytes = (from: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => from + index)
const secretOf = (key: Uint8Array): string => `whsec_${btoa(String.fromCharCode(...key))}`

const secret = secretOf(bytes(0, 32))
const finished = {
  id: 'evt_0042',
  timestamp: '1795858205',
  body: encode(
    '{"eventId":"evt_0042","name":"build.finished","timestamp":"2026-11-28T09:30:00Z","data":{"project":"lantern","status":"failed"},"cursor":"p17"}',
  ),
}
const renamed = {
  id: 'evt_0043',
  timestamp: '1795858205',
  body: encode(
    '{"eventId":"evt_0043","name":"build.finished","timestamp":"2026-11-28T09:31:00+01:00","data":{"title":"Größe ändern ☕"},"cursor":null}',
  ),
}
const standard = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  body: encode('{"test": 2432232314}'),
}
const good = 'v1,xfvJRUgiKZVV2PFQGIxv2khESpEfokvuyUNVjAt1nes='
const vectors = [
  [secret, finished, good],
  [secret, renamed, 'v1,OzRi7+5Ibl3BspEF58GHQ1L9DeZdoVsW5hMIv/jpfZc='],
  [secretOf(bytes(0x20, 32)), finished, 'v1,8Z5RHtCo4ewlzXrMwJxqgJtKgubN6/ma5wcExknB6rY='],
  [
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    standard,
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ],
] as const

describe('A webhook signature', () => {
  test.each(vectors)(
    'equals the published vector, with the decoded bytes behind "whsec_" as the key: %# [E-EVT-227] [E-EVT-228] [E-EVT-229]',
    async (key, message, signature) => {
      expect(await signWebhook(key, message)).toBe(signature)
      expect(await verifyWebhook(key, message, signature)).toBe(true)
    },
  )

  test('does not fit after a byte of the id, the timestamp or the body has changed [E-EVT-227]', async () => {
    const changed = finished.body.slice()
    changed[20]! ^= 1
    for (const message of [
      { ...finished, id: 'evt_0043' },
      { ...finished, timestamp: '1795858206' },
      { ...finished, body: changed },
    ]) {
      expect(await verifyWebhook(secret, message, good)).toBe(false)
    }
  })

  test('is refused in the URL-safe alphabet, without padding, and with another separator [E-EVT-228]', async () => {
    const [key, message, signature] = vectors[1]
    for (const altered of [
      signature.replaceAll('+', '-').replaceAll('/', '_'),
      signature.replace('=', ''),
      signature.replace('v1,', 'v1='),
      signature.slice(3),
      signature.replace('v1', 'v2'),
      '',
    ]) {
      expect(await verifyWebhook(key, message, altered)).toBe(false)
    }
  })

  test('is found among others, of which broken and newer ones are ignored [E-EVT-225] [E-EVT-235]', async () => {
    const other = 'v1,8Z5RHtCo4ewlzXrMwJxqgJtKgubN6/ma5wcExknB6rY='
    for (const signatures of [
      `${other} ${good}`,
      `${good} ${other}`,
      `garbage ${good}`,
      `v1, v1 , ${good}`,
      `v1a,xxx ${good}`,
      `v1,bad ${good}`,
    ]) {
      expect(await verifyWebhook(secret, finished, signatures)).toBe(true)
    }
    expect(await verifyWebhook(secret, finished, `${other} v1a,${good.slice(3)}`)).toBe(false)
  })

  test('is compared by Web Crypto, in constant time, wherever it differs [E-EVT-236]', async () => {
    const raw = Uint8Array.from(atob(good.slice(3)), (unit) => unit.charCodeAt(0))
    const verify = vi.spyOn(crypto.subtle, 'verify')
    for (const position of [0, 15, 31]) {
      const changed = raw.slice()
      changed[position]! ^= 1
      const signature = `v1,${btoa(String.fromCharCode(...changed))}`
      expect(await verifyWebhook(secret, finished, signature)).toBe(false)
      expect(verify.mock.lastCall?.[2]).toEqual(changed)
    }
    verify.mockRestore()
  })

  test('is checked only among the first 16, so that no request causes much work', async () => {
    const verify = vi.spyOn(crypto.subtle, 'verify')
    const other = `v1,${btoa('\0'.repeat(32))}`
    expect(await verifyWebhook(secret, finished, `${`${other} `.repeat(1000)}${good}`)).toBe(false)
    expect(verify).toHaveBeenCalledTimes(16)
    verify.mockRestore()
  })

  test('cannot be created with a secret that is not one', async () => {
    await expect(signWebhook('secret', finished)).rejects.toThrow(
      'A webhook secret must be "whsec_" and the Base64 of 24 to 64 bytes',
    )
  })
})

describe('A webhook secret', () => {
  test('is created from 32 random bytes [E-EVT-113]', () => {
    const [a, b] = [createWebhookSecret(), createWebhookSecret()]
    expect(decodeWebhookSecret(a)).toHaveLength(32)
    expect(a).not.toBe(b)
  })

  test('has 24 to 64 bytes in the standard alphabet, with padding or without', () => {
    for (const length of [24, 25, 26, 32, 64]) {
      const padded = secretOf(bytes(0xd0, length))
      expect(decodeWebhookSecret(padded)).toEqual(bytes(0xd0, length))
      expect(decodeWebhookSecret(padded.replaceAll('=', ''))).toEqual(bytes(0xd0, length))
    }
    for (const wrong of [
      secretOf(bytes(0, 23)),
      secretOf(bytes(0, 65)),
      secret.replace('whsec_', ''),
      secret.replace('/', '_').replaceAll('+', '-').replace('AAEC', 'A-_C'),
      ` ${secret}`,
      `${secret}\n`,
      secret.replace('AAEC', 'AA EC'),
      `${secret}=`,
      `${secret.replace('=', '')}AA`,
      'whsec_',
      '',
    ]) {
      expect(decodeWebhookSecret(wrong), wrong).toBeUndefined()
    }
  })
})

describe('A webhook timestamp', () => {
  test('is accepted within five minutes on both sides [E-EVT-230] [E-EVT-233] [E-EVT-234]', () => {
    const seconds = 1_795_858_205
    const at = (offset: number): boolean => isTimely(String(seconds), (seconds + offset) * 1_000)
    expect([0, 299, 300, -299, -300].map(at)).toEqual([true, true, true, true, true])
    expect([301, -301, 86_400].map(at)).toEqual([false, false, false])
  })

  test('is refused unless it is a whole number of seconds [E-EVT-230]', () => {
    for (const wrong of [
      '',
      'now',
      '1795858205.5',
      '-1',
      '1e9',
      ' 1795858205',
      '1795858205000000',
    ]) {
      expect(isTimely(wrong, 1_795_858_205_000), wrong).toBe(false)
    }
  })
})
