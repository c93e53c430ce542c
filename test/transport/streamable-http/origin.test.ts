// Which origins and hosts are let in, however they are written.
import { describe, expect, it } from 'vitest'
import { selectIcon } from '../../../src/presets/client.ts'
import { createHandler, createServer, type HandlerOptions } from '../../../src/presets/server.ts'
import { postRaw } from './post.ts'

const serve = (options: HandlerOptions) =>
  createHandler(createServer({ name: 's', version: '1' }), options)

/** The status of a request from a page; if that may call, it may read the answer too. */
async function statusFrom(
  origin: string,
  options: HandlerOptions = {},
  url = 'https://api.example/mcp',
): Promise<number> {
  const request = new Request(url, { method: 'OPTIONS', headers: { origin } })
  const response = await serve(options)(request)
  const readable = response.headers.get('access-control-allow-origin')
  expect(readable).toBe(response.status === 403 ? null : origin)
  return response.status
}

describe('An origin', () => {
  it.each([
    ['https://APP.example:8443', 'https://app.example:8443'],
    ['https://app.example', 'https://app.example:443'],
    ['https://app.example:443', 'https://app.example'],
    ['http://app.example', 'http://app.example:80/'],
    ['https://xn--bcher-kva.example', 'https://bücher.example'],
  ])('%s is allowed where %s is allowed [P018]', async (origin, allowed) => {
    expect(await statusFrom(origin, { allowedOrigins: [allowed] })).toBe(204)
  })

  it.each([
    ['https://app.example:8443', 'https://APP.example:8443/'],
    ['app://localhost', 'app://localhost'],
    ['null', 'null'],
  ])('%s is allowed where %s is allowed', async (origin, allowed) => {
    expect(await statusFrom(origin, { allowedOrigins: [allowed] })).toBe(204)
  })

  it.each([
    ['https://app.example:8443', 'https://app.example'],
    ['http://app.example', 'https://app.example'],
    ['https://app.example.evil.example', 'https://app.example'],
    ['app://localhost', 'capacitor://localhost'],
    ['null', 'https://app.example'],
  ])('%s is refused where %s is allowed', async (origin, allowed) => {
    expect(await statusFrom(origin, { allowedOrigins: [allowed] })).toBe(403)
  })

  it('is not let in for being a part of a text where a list belongs [P033]', async () => {
    const handle = serve({ allowedOrigins: 'https://app.example' as never })
    const headers = { origin: 'https://app' }
    const response = await handle(
      new Request('https://api.example/mcp', { method: 'OPTIONS', headers }),
    )
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    expect(response.status).toBe(500)
  })

  it.each(['app://localhost', 'capacitor://localhost', 'ionic://localhost', 'app://127.0.0.1'])(
    '%s is not allowed by default, unlike http and https pages of this machine [S026]',
    async (origin) => {
      const url = 'http://localhost:8000/mcp'
      expect(await statusFrom(origin, {}, url)).toBe(403)
      expect(await statusFrom(`${origin}:8000`, {}, url)).toBe(403)
      expect(await statusFrom('http://localhost:3000', {}, url)).toBe(204)
    },
  )

  it('of icons is allowed however it is allowed [P018]', () => {
    const icon = { src: 'https://cdn.example/a.png' }
    const allowedOrigins = ['https://CDN.example:443/']
    const wish = { serverUrl: 'https://api.example/mcp', allowedOrigins }
    expect(selectIcon([icon], wish)).toEqual(icon)
  })
})

describe('A host', () => {
  it.each(['evil@localhost', 'evil:x@localhost', 'localhost/..', 'localhost?', 'localhost#'])(
    'that is invalid is rejected, however a runtime parses it: %s [S027]',
    async (host) => {
      const url = `http://${host}/mcp`
      const headers = new Headers({ host })
      const request = { method: 'POST', url, headers } as Request
      expect((await serve({ allowedHosts: ['localhost'] })(request)).status).toBe(403)
    },
  )

  it('is served however it is allowed [P018]', async () => {
    for (const allowed of ['localhost', 'LOCALHOST', 'localhost:8000']) {
      expect((await postRaw(serve({ allowedHosts: [allowed] }), '{}')).status).toBe(400)
    }
  })
})
