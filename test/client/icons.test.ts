import { describe, expect, test } from 'vitest'
import { loadIcon, selectIcon } from '../../src/presets/client.ts'

const rules = { serverUrl: 'https://peer.example/mcp' }
const src = 'https://peer.example/i.png'

/** A PNG as far as its head goes. */
function png(width = 48, height = 48, ...before: string[]): Uint8Array<ArrayBuffer> {
  const number = (value: number): number[] => [24, 16, 8, 0].map((bits) => (value >>> bits) & 255)
  const chunk = (name: string, data: number[]): number[] => [
    ...number(data.length),
    ...new TextEncoder().encode(name),
    ...data,
    ...number(0),
  ]
  return new Uint8Array([
    ...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    ...chunk('IHDR', [...number(width), ...number(height), 8, 6, 0, 0, 0]),
    ...before.flatMap((name) => chunk(name, [...number(20), ...number(0)])),
    ...chunk('IDAT', [1, 2, 3]),
  ])
}

/** A JPEG as far as its head goes. */
function jpeg(width: number, height: number): Uint8Array<ArrayBuffer> {
  const size = [height >> 8, height & 255, width >> 8, width & 255]
  const tables = [0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc4, 0, 3, 1]
  return new Uint8Array([0xff, 0xd8, ...tables, 0xff, 0xc0, 0, 17, 8, ...size, 3, 0])
}

const gif = new TextEncoder().encode('GIF89a\x30\x00\x30\x00')
const dataUri = (bytes: Uint8Array, type = 'image/png'): string =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`

/** Answers with an image, and records the requests. */
function host(
  body: BodyInit | null,
  headers: Record<string, string> = { 'content-type': 'image/png' },
  status = 200,
) {
  const seen: { url: string; init: RequestInit }[] = []
  const fetch = (url: string, init: RequestInit): Promise<Response> => {
    seen.push({ url, init })
    return Promise.resolve(new Response(body, { status, headers }))
  }
  return { seen, limits: { ...rules, fetch } }
}

describe('selectIcon', () => {
  test('takes PNG and JPEG, the best by theme and size [L-COM-012] [M-BASE-065]', () => {
    const icon = (name: string, more: object) => ({ src: `https://peer.example/${name}`, ...more })
    const icons = [
      icon('small', { mimeType: 'image/png', sizes: ['16x16'] }),
      icon('fit', { mimeType: 'image/jpeg', sizes: ['48x48', '96x96'] }),
      icon('large', { mimeType: 'image/jpg', sizes: ['512x512'] }),
      icon('dark', { mimeType: 'image/png', sizes: ['512x512'], theme: 'dark' }),
    ]
    const select = (wish: object) => selectIcon(icons, { ...rules, ...wish })?.src.slice(21)
    expect(select({})).toBe('fit')
    expect(select({ size: 96 })).toBe('fit')
    expect(select({ size: 300, theme: 'light' })).toBe('large')
    expect(select({ size: 16 })).toBe('small')
    expect(selectIcon([icons[3]], { ...rules, theme: 'dark' })?.src).toContain('dark')
    expect(selectIcon([icon('x', { mimeType: 'image/svg+xml' })], rules)).toBeUndefined()
  })

  test.each([
    'javascript:alert(1)',
    'file:///etc/i.png',
    'ftp://peer.example/i.png',
    'ws://peer.example/i.png',
    'http://peer.example/i.png',
    'app://i.png',
    'blob:https://peer.example/1',
    'i.png',
    'data:text/html;base64,AAAA',
    'data:image/svg+xml;base64,AAAA',
  ])('skips the icon "%s" [L-COM-014] [M-BASE-068]', async (bad) => {
    expect(selectIcon([{ src: bad }, { src }], rules)).toEqual({ src })
    await expect(loadIcon({ src: bad }, rules)).rejects.toMatchObject({ code: 'INVALID_USE' })
  })

  test('takes icons of the server, of origins that are allowed, and data [L-COM-014] [L-COM-017] [M-BASE-071]', () => {
    const foreign = { src: 'https://cdn.example/i.png' }
    expect(selectIcon([foreign], rules)).toBeUndefined()
    expect(selectIcon([{ src: 'https://peer.example:444/i.png' }], rules)).toBeUndefined()
    expect(selectIcon([foreign], { ...rules, allowedOrigins: ['https://cdn.example'] })).toBe(
      foreign,
    )
    const data = { src: dataUri(png()) }
    expect(selectIcon([data], rules)).toBe(data)
  })

  test.each<unknown>([
    {},
    { src: 7 },
    { src, sizes: '48x48' },
    { src, sizes: ['48'] },
    { src, theme: 'blue' },
    { src, mimeType: 7 },
    null,
    'x',
  ])('leaves out an invalid icon: %j [L-COM-019]', (bad) => {
    expect(selectIcon([bad], rules)).toBeUndefined()
    expect(selectIcon(bad, rules)).toBeUndefined()
    const good = { src, mimeType: 'image/png', sizes: ['48x48', 'any'], theme: 'light' }
    expect(selectIcon([bad, good], rules)).toBe(good)
  })
})

describe('loadIcon', () => {
  test('fetches without credentials, and returns the detected type [L-COM-016] [M-BASE-070]', async () => {
    const { seen, limits } = host(png())
    expect(await loadIcon({ src, mimeType: 'image/png' }, limits)).toEqual({
      mimeType: 'image/png',
      bytes: png(),
    })
    expect(seen).toEqual([
      {
        url: src,
        init: { credentials: 'omit', redirect: 'manual', referrerPolicy: 'no-referrer' },
      },
    ])
    const photo = jpeg(64, 32)
    const { limits: other } = host(photo, { 'content-type': 'image/jpg; q=1' })
    expect((await loadIcon({ src }, other)).mimeType).toBe('image/jpeg')
    expect((await loadIcon({ src: dataUri(png()) }, limits)).bytes).toEqual(png())
    expect(seen).toHaveLength(1)
  })

  test.each([301, 302, 307, 308, 404, 500])(
    'does not follow a redirect with the status %i [L-COM-015] [M-BASE-069]',
    async (status) => {
      for (const location of ['https://evil.example/', 'http://peer.example/i.png', '/other.png']) {
        const { seen, limits } = host(null, { location }, status)
        await expect(loadIcon({ src }, limits)).rejects.toMatchObject({ code: 'HTTP' })
        expect(seen).toHaveLength(1)
      }
    },
  )

  test('stops at the limit of bytes, however they come [L-COM-018] [M-BASE-072]', async () => {
    let sent = 0
    let cancelled = false
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536))
      },
      cancel: () => void (cancelled = true),
    })
    const { limits } = host(endless)
    await expect(loadIcon({ src }, limits)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    expect(cancelled).toBe(true)
    expect(sent).toBeLessThan(2_000_000)
    const inline = { src: dataUri(png()) }
    await expect(loadIcon(inline, { ...rules, maxBytes: 10 })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    })
  })

  test.each<[string, Uint8Array<ArrayBuffer>, string, string]>([
    ['text that looks like a PNG', png(), 'text/html', 'INVALID_MESSAGE'],
    ['a PNG called JPEG', png(), 'image/jpeg', 'INVALID_MESSAGE'],
    ['a GIF', gif, 'image/gif', 'INVALID_MESSAGE'],
    ['a GIF called PNG', gif, 'image/png', 'INVALID_MESSAGE'],
    ['an animation', png(48, 48, 'acTL'), 'image/png', 'INVALID_MESSAGE'],
    ['half a head', png().slice(0, 20), 'image/png', 'INVALID_MESSAGE'],
    ['a JPEG without a frame', jpeg(1, 1).slice(0, 12), 'image/jpeg', 'INVALID_MESSAGE'],
    ['SVG', new TextEncoder().encode('<svg/>'), 'image/svg+xml', 'INVALID_MESSAGE'],
    ['nothing', new Uint8Array(), 'image/png', 'INVALID_MESSAGE'],
    ['a wide PNG', png(100_000, 1), 'image/png', 'LIMIT_EXCEEDED'],
    ['a high JPEG', jpeg(1, 60_000), 'image/jpeg', 'LIMIT_EXCEEDED'],
  ])(
    'rejects %s [L-COM-018] [M-BASE-067] [M-BASE-072] [M-BASE-073]',
    async (_name, bytes, type, code) => {
      const { limits } = host(bytes, { 'content-type': type })
      await expect(loadIcon({ src }, limits)).rejects.toMatchObject({ code })
    },
  )
})
