import { describe, expect, test } from 'vitest'
import { watchSignIn } from '../../src/transport/http/sign-in-watch.ts'

/** A watch over a server that answers requests with the status that they ask for. */
function watched() {
  const { fetch, untilSignedIn } = watchSignIn((_url, { method }) =>
    Promise.resolve(new Response(null, { status: Number(method) })),
  )
  const send = (status: number, token?: string): Promise<Response> =>
    fetch('https://peer.example/mcp', {
      method: String(status),
      headers: token === undefined ? {} : { authorization: token },
    })
  return { send, untilSignedIn }
}

describe('Waiting for a sign-in', () => {
  test.each([200, 202, 400, 403, 404, 500])(
    'ends when another token is accepted with status %i',
    async (status) => {
      const { send, untilSignedIn } = watched()
      await send(401, 'old')
      const signedIn = untilSignedIn(AbortSignal.timeout(60_000))
      await send(status, 'new')
      await expect(signedIn).resolves.toBeUndefined()
    },
  )

  test.each([
    ['the rejected token is accepted elsewhere', 200, 'old'],
    ['another token is rejected too', 401, 'new'],
    ['a request with another token is redirected', 307, 'new'],
  ])('goes on while %s', async (_what, status, token) => {
    const { send, untilSignedIn } = watched()
    await send(401, 'old')
    const waiting = new AbortController()
    const signedIn = untilSignedIn(waiting.signal)
    await send(status, token)
    waiting.abort()
    await expect(signedIn).rejects.toMatchObject({ code: 'ABORTED' })
  })

  test('ends with the first token after requests that had none', async () => {
    const { send, untilSignedIn } = watched()
    await send(401)
    const signedIn = untilSignedIn(AbortSignal.timeout(60_000))
    await send(200, 'new')
    await expect(signedIn).resolves.toBeUndefined()
  })
})
