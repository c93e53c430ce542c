// https://www.rfc-editor.org/rfc/rfc8252#section-7.3
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLoopbackFlow, type LoopbackHost } from '#internal/authorization'
import { loopback } from '../../../runtimes/node/index.ts'
import { freePort } from '../../../examples/free-port.ts'
import { root } from '../../root.ts'
import { bun, deno } from '../binaries.ts'
import { createWorld, ISSUER } from '../../authorization/world.ts'
import { PATIENCE } from '../../patience.ts'

const never = new AbortController().signal

describe('coming back to this machine', () => {
  it('gives the URL that the user was sent to, and shows them a page [M-ASEC-060]', async () => {
    const opened: string[] = []
    const visit = await loopback({ open: (url) => void opened.push(url) }).begin(undefined)
    expect(visit.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
    const going = visit.go('https://as.example/authorize?state=s', '', never)
    await vi.waitFor(
      () => expect(opened).toEqual(['https://as.example/authorize?state=s']),
      PATIENCE,
    )
    const callback = `${visit.redirectUri}?code=c&state=s`
    const page = await fetch(callback)
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('You can close this page')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(await going).toBe(callback)
    // Once is enough
    expect((await fetch(callback)).status).toBe(400)
    await visit.end?.()
    await expect(fetch(callback)).rejects.toThrow()
  })

  it('cannot be forged by other pages: nothing is accepted without the state [L-AUTH-084] [M-ASEC-045] [M-ASEC-060]', async () => {
    const visit = await loopback({ open: () => {} }).begin(undefined)
    const early = await fetch(`${visit.redirectUri}?code=c&state=s`)
    expect(early.status).toBe(400)
    const going = visit.go('https://as.example/authorize?state=s', '', never)
    const { origin } = new URL(visit.redirectUri)
    const statuses: number[] = []
    for (const [path, method] of [
      ['/callback?code=evil', 'GET'],
      ['/callback?code=evil&state=x', 'GET'],
      ['/callback?code=evil&state=<script>', 'GET'],
      ['/callback?code=evil&state=s', 'POST'],
      ['/favicon.ico', 'GET'],
      ['/other?code=evil&state=s', 'GET'],
    ] as const) {
      const response = await fetch(origin + path, { method })
      statuses.push(response.status)
      expect(await response.text()).not.toContain('script')
    }
    expect(statuses).toEqual([400, 400, 400, 404, 404, 404])
    await fetch(`${visit.redirectUri}?code=good&state=s`)
    expect(await going).toContain('code=good')
    await visit.end?.()
  })

  it('works at an address of this machine only, not at a name that DNS resolves to it [S003]', async () => {
    const visit = await loopback({ open: () => {} }).begin(undefined)
    const going = visit.go('https://as.example/authorize?state=s', '', never)
    const { port } = new URL(visit.redirectUri)
    const socket = connect(Number(port), '127.0.0.1')
    socket.end(
      'GET /callback?code=c&state=s HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    )
    expect(await text(socket)).toMatch(/^HTTP\/1.1 403/)
    await fetch(`${visit.redirectUri}?code=good&state=s`)
    expect(await going).toContain('code=good')
    await visit.end?.()
  })

  it('survives malformed requests', async () => {
    const visit = await loopback({ open: () => {} }).begin(undefined)
    const { port } = new URL(visit.redirectUri)
    for (const head of [
      'GET /callback HTTP/1.1\r\nHost: a:b@c',
      'GET / HTTP/1.1\r\nHost: :::',
      'TRACE / HTTP/1.1\r\nHost: x',
      'GET http://a:b@c/ HTTP/1.1\r\nHost: x',
      'OPTIONS * HTTP/1.1\r\nHost: x',
    ]) {
      const socket = connect(Number(port), '127.0.0.1')
      socket.end(`${head}\r\nConnection: close\r\n\r\n`)
      expect(await text(socket)).toMatch(/^HTTP\/1.1 40[034]/)
    }
    await visit.end?.()
  })

  it('is waited for until the sign-in is aborted [M-ASEC-060]', async () => {
    const visit = await loopback({ open: () => {} }).begin(undefined)
    const leaving = new AbortController()
    const going = visit.go('https://as.example/authorize?state=s', '', leaving.signal)
    leaving.abort(new Error('Too late'))
    await expect(going).rejects.toThrow('Too late')
    await visit.end?.()
  })

  it('listens on the registered port again, unless another process has taken it [L-AUTH-082]', async () => {
    const registered = `http://127.0.0.1:${await freePort()}/callback`
    const first = await loopback().begin(registered)
    await first.end?.()
    const second = await loopback().begin(registered)
    expect(second.redirectUri).toBe(registered)
    const third = await loopback().begin(registered)
    expect(third.redirectUri).not.toBe(registered)
    await second.end?.()
    await third.end?.()
  })

  it('uses the port of the application, and no other', async () => {
    const port = await freePort()
    const other = createServer().listen(port, '127.0.0.1')
    await new Promise((resolve) => other.on('listening', resolve))
    await expect(loopback({ port }).begin(undefined)).rejects.toThrow(/EADDRINUSE/)
    other.close()
    const visit = await vi.waitFor(
      () => loopback({ port, path: '/back' }).begin(undefined),
      PATIENCE,
    )
    expect(visit.redirectUri).toBe(`http://127.0.0.1:${port}/back`)
    await visit.end?.()
  })

  it.each(['localhost', '127.0.0.2', '[::1]'])(
    'is at the host name that a client is registered with: %s [C005]',
    async (hostname) => {
      const port = await freePort()
      const opened: string[] = []
      const interaction = loopback({ port, hostname, open: (url) => void opened.push(url) })
      const visit = await interaction.begin(undefined)
      expect(visit.redirectUri).toBe(`http://${hostname}:${port}/callback`)
      const going = visit.go(
        'https://as.example/authorize?state=s',
        '',
        new AbortController().signal,
      )
      expect((await fetch(`${visit.redirectUri}?code=c&state=s`)).status).toBe(200)
      expect(await going).toBe(`${visit.redirectUri}?code=c&state=s`)
      await visit.end?.()
    },
  )

  it('is at both addresses of localhost, which browsers choose between, and at no other [C005]', async () => {
    const visit = await loopback({ hostname: 'localhost', open: () => {} }).begin(undefined)
    const { port } = new URL(visit.redirectUri)
    const reached = (host: string): Promise<number> =>
      fetch(`http://${host}:${port}/callback`).then(({ status }) => status)
    expect([await reached('127.0.0.1'), await reached('[::1]')]).toEqual([400, 400])
    await expect(reached('127.0.0.2')).rejects.toThrow()
    await visit.end?.()
    await expect(reached('127.0.0.1')).rejects.toThrow()
    await expect(reached('[::1]')).rejects.toThrow()
  })

  it('is not where another program has one of the addresses of localhost [C005]', async () => {
    const port = await freePort()
    const other = createServer().listen(port, '::1')
    await new Promise((resolve) => other.on('listening', resolve))
    const interaction = loopback({ port, hostname: 'localhost' })
    await expect(interaction.begin(undefined)).rejects.toThrow(/EADDRINUSE/)
    await new Promise((resolve) => other.close(resolve))
    const visit = await vi.waitFor(() => interaction.begin(undefined), PATIENCE)
    await visit.end?.()
  })

  it('is at the host name of the registration [C005]', async () => {
    const registered = `http://localhost:${await freePort()}/callback`
    const visit = await loopback().begin(registered)
    expect(visit.redirectUri).toBe(registered)
    await visit.end?.()
  })

  it.each(['example.com', '0.0.0.0', '192.168.1.1', ''])(
    'is at no host that is not this machine: "%s" [C005]',
    async (hostname) => {
      await expect(loopback({ hostname }).begin(undefined)).rejects.toThrow(
        `Cannot listen on "${hostname}": it is not a loopback host`,
      )
    },
  )

  it('is not reachable from other machines [M-ASEC-060]', async () => {
    const visit = await loopback().begin(undefined)
    const { port } = new URL(visit.redirectUri)
    await expect(fetch(`http://[::1]:${port}/callback`)).rejects.toThrow()
    await visit.end?.()
  })
})

describe('the browser of the user', () => {
  const url = 'https://as.example/authorize?state=s&a=$(calc)&calc&"\'`;|x'
  const ran: [string, readonly string[]][] = []
  const host = (os: string, works = true): LoopbackHost => ({
    os,
    listen: async () => ({ port: 1, close: () => {} }),
    async run(command, args) {
      ran.push([command, args])
      if (!works) throw new Error('No such program')
    },
  })
  beforeEach(() => void ran.splice(0))
  afterEach(() => {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
  })

  it.each([
    ['linux', 'xdg-open', 0],
    ['freebsd', 'xdg-open', 0],
    ['darwin', 'open', 0],
    ['win32', 'rundll32', 1],
  ])(
    'is started on %s as a program with the URL as its argument, by no shell [L-AUTH-097] [M-ASEC-052]',
    async (os, command, before) => {
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const visit = await createLoopbackFlow(host(os)).begin(undefined)
      visit.go(url, '', never).catch(() => {})
      await vi.waitFor(() => expect(ran).toHaveLength(1), PATIENCE)
      const [program, args] = ran[0]!
      expect(program).toBe(command)
      expect(args).toHaveLength(before + 1)
      // Characters with a meaning to a shell are percent-encoded as well
      expect(args.at(-1)).toBe(new URL(url).href)
    },
  )

  it('may show nothing, so the URL is on stderr whether it is started or not [P002]', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {})
    for (const works of [true, false]) {
      const visit = await createLoopbackFlow(host('linux', works)).begin(undefined)
      visit.go('https://as.example/authorize?state=s', '', never).catch(() => {})
    }
    const line = 'To sign in, open https://as.example/authorize?state=s'
    const lines = [line, line, 'Cannot open a browser: No such program']
    await vi.waitFor(() => expect(said.mock.calls.flat()).toEqual(lines), PATIENCE)
  })

  it.runIf(process.platform === 'linux')(
    'that ends with a status other than 0 is said not to open (where it is xdg-open) [P002]',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'edgewise-'))
      writeFileSync(join(folder, 'xdg-open'), '#!/bin/sh\nexit 3\n', { mode: 0o755 })
      vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
      const said = vi.spyOn(console, 'error').mockImplementation(() => {})
      const visit = await loopback().begin(undefined)
      visit.go('https://as.example/authorize?state=s', '', never).catch(() => {})
      const lines = [
        'To sign in, open https://as.example/authorize?state=s',
        'Cannot open a browser: "xdg-open" ended with 3',
      ]
      await vi.waitFor(() => expect(said.mock.calls.flat()).toEqual(lines), PATIENCE)
      await visit.end?.()
      rmSync(folder, { recursive: true })
    },
  )
})

describe('signing in by it', () => {
  it('works from the 401 to the call on Node', async () => {
    const world = createWorld()
    const interaction = loopback({
      async open(url) {
        const { headers } = await world.fetch(url)
        await fetch(headers.get('location') ?? '')
      },
    })
    await using client = await world.connect(world.signIn({ interaction }))
    expect(await client.listAllTools()).toHaveLength(1)
    expect(world.to(`${ISSUER}/token`)).toHaveLength(1)
  })

  it.each([
    [
      'Deno',
      () => [
        deno(),
        'run',
        '--quiet',
        '--no-prompt',
        '--allow-net=127.0.0.1',
        '--allow-env',
        '--allow-read',
      ],
    ],
    ['Bun', () => [bun()]],
  ])('works from the 401 to the call on %s', async (_, command) => {
    const [program = '', ...args] = command()
    const child = spawn(program, [...args, 'test/runtimes/node/signing-in.ts'], { cwd: root })
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect([out, err]).toEqual(['["book"] after 1 sign-in\n', ''])
  })
})
