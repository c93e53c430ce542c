import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeCommand } from '../../../node-program.ts'
import { toNodeListener } from '../../../../runtimes/node/index.ts'
import { createHandler } from '../../../../src/presets/server.ts'
import { createHandler as createTinyHandler } from '../../../../src/presets/server-tiny.ts'
import { sessionHandler } from '../../../handler.ts'
import { PATIENCE } from '../../../patience.ts'
import { start, type Running } from './run.ts'
import { makeTinyServer, makeServer } from './server.ts'

const opened: Server[] = []
const running: Running[] = []

afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGINT')
    await ended
  }
  for (const http of opened.splice(0)) {
    http.closeAllConnections()
    http.close()
  }
})

/** Serves over HTTP, and gives the URL. */
async function serve(handle: (request: Request) => Promise<Response>): Promise<string> {
  const http = createServer(toNodeListener(handle))
  opened.push(http)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
}

function listen(...words: readonly string[]): Running {
  const command = start('listen', ...words)
  running.push(command)
  return command
}

function program(file: string): string[] {
  return ['--', ...nodeCommand(`test/runtimes/node/cli/${file}`)]
}

const nothing = {
  code: 1,
  out: '',
  err: 'The server does not announce changes (UNSUPPORTED)\n',
}

describe.each(['2026-07-28', '2025-11-25'])('a server of %s without notifications', (revision) => {
  it('over HTTP ends the command with 1, which says so', async () => {
    const url = await serve(createTinyHandler(makeTinyServer()))
    expect(await listen(url, '--revision', revision).ended).toEqual(nothing)
    const { ended } = listen(url, '--resource', 'kiosk://list', '--revision', revision)
    expect(await ended).toEqual({
      ...nothing,
      err: 'The server does not announce changes to "kiosk://list" (UNSUPPORTED)\n',
    })
  })

  it('over stdio ends the command with 1, which says so', async () => {
    const { ended } = listen('--revision', revision, ...program('tiny-stdio.ts'))
    expect(await ended).toEqual(nothing)
  })
})

describe('a server of 2025-11-25', () => {
  it('without sessions ends the command with 1, which says so', async () => {
    const url = await serve(createHandler(makeServer()))
    expect(await listen(url, '--revision', '2025-11-25').ended).toEqual(nothing)
  })

  it('with sessions, but no stream for them, ends the command with 1, which says so', async () => {
    const handle = sessionHandler(makeServer())
    const url = await serve(async (request) => {
      return request.method === 'GET' ? new Response(null, { status: 405 }) : handle(request)
    })
    const { code, err } = await listen(url, '--revision', '2025-11-25').ended
    expect(code).toBe(1)
    expect(err).toBe(`Listening to shop in 2025-11-25\n${nothing.err}`)
  })

  it('that changes nothing may send logs', async () => {
    const { outcome } = listen('--revision', '2025-11-25', ...program('log-server.ts'))
    const log = 'notifications/message {"level":"info","data":"Up"}\n'
    await expect.poll(() => outcome.out, PATIENCE).toBe(log)
    await expect.poll(() => outcome.err, PATIENCE).toBe('Listening to log in 2025-11-25\n')
  })
})

it.each(['2026-07-28', '2025-11-25'])('a resource of %s is listened to', async (revision) => {
  const server = makeServer()
  const url = await serve(sessionHandler(server))
  const { outcome } = listen(url, '--resource', 'shop://list', '--revision', revision)
  await expect.poll(() => outcome.err, PATIENCE).toContain('Listening to shop')
  await expect
    .poll(() => {
      server.notify.resourceUpdated('shop://list')
      return outcome.out
    }, PATIENCE)
    .toContain('notifications/resources/updated {"uri":"shop://list"')
})
