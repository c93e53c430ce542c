import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serve } from '../../../../runtimes/node/index.ts'
import { jwtTokens, protectedResource } from '../../../../src/protected-resource/index.ts'
import { freePort } from '../../../../examples/free-port.ts'
import { AuthorizationServer } from '../../../protected-resource/authorization-server.ts'
import { startWith } from './run.ts'
import { makeServer } from './server.ts'

it('edgewise --sign-in sends the user to a page, once, and keeps the tokens', async () => {
  await using authorization = await AuthorizationServer.listen()
  const port = await freePort()
  const resource = `http://127.0.0.1:${port}/mcp`
  const authorizationServers = [authorization.issuer.issuer]
  const auth = protectedResource({ resource, authorizationServers, verify: jwtTokens() })
  await using server = await serve(makeServer(), { port, auth })
  const state = mkdtempSync(join(tmpdir(), 'edgewise-'))
  // Without programs there is no browser to open, so the address is printed.
  const env = { PATH: '', XDG_STATE_HOME: state }
  try {
    const refused = startWith(env, 'call', server.url, 'add', 'a=1')
    expect(await refused.ended).toMatchObject({ code: 3 })
    expect(refused.outcome.err).toContain('try --sign-in or --token')

    const wrong = await startWith(env, 'list', server.url, '--token', 'wrong').ended
    expect(wrong).toMatchObject({ code: 3 })
    expect(wrong.err).toContain('the token was rejected')

    const first = startWith(env, 'call', server.url, 'add', 'a=1', '--sign-in')
    await expect.poll(() => first.outcome.err).toContain('To sign in, open')
    const address = /open (\S+)/.exec(first.outcome.err)?.[1] ?? ''
    expect(await (await fetch(address)).text()).toContain('You can close this page')
    expect(await first.ended).toMatchObject({ code: 0, out: '{"sum":1}\n' })

    const second = startWith(env, 'call', server.url, 'add', 'a=2', '--sign-in')
    expect(await second.ended).toMatchObject({ code: 0, out: '{"sum":2}\n', err: '' })
  } finally {
    rmSync(state, { recursive: true })
  }
})
