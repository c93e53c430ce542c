/**
 * A server that works for its users at a third party, as the spec wants it: consent and credentials
 * stay between the user, a page of the server's own and the third party.
 */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/index.ts'
import { createServer, createTickets, type Caller } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { lastMessage, openSession, postModern } from '../transport/streamable-http/post.ts'

const CLIENT_TOKEN = 'token-of-the-client'
const USER = 'ada@example.com'

/** The third party, which notes what it is shown. */
function thirdParty() {
  const shown: string[] = []
  return {
    shown,
    /** Gives a token for a user who logged in there, and agreed. */
    authorize: (user: string) => `third-party-token-of-${user}`,
    repositories(token: string): string[] {
      shown.push(token)
      return ['one', 'two']
    },
  }
}

function makeServer() {
  const git = thirdParty()
  const tickets = createTickets({ secrets: 'a secret of more than sixteen characters' })
  const tokens = new Map<string, string>()
  const server = createServer({ name: 'git', version: '1' })
  server.tool('repositories', {}, async (_args, ctx) => {
    const user = ctx.principal ?? ''
    if (!tokens.has(user)) {
      const url = new URL('https://server.example/connect')
      url.searchParams.set('ticket', await ctx.step('ticket', () => tickets.issue(user)))
      const { action } = await ctx.elicitUrl({ message: 'Connect your account', url: url.href })
      if (action !== 'accept') return 'Not connected'
    }
    const token = tokens.get(user)
    return token === undefined ? 'Not connected yet' : git.repositories(token).join()
  })
  /** The server's own page, which asks for a login of its own. */
  const visit = async (url: string, loggedIn: string | undefined): Promise<number> => {
    if (loggedIn === undefined) return 401
    const ticket = new URL(url).searchParams.get('ticket') ?? ''
    if (!(await tickets.redeem(ticket, loggedIn))) return 403
    tokens.set(loggedIn, git.authorize(loggedIn))
    return 200
  }
  return { server, visit, git }
}

const capabilities = { elicitation: { url: {} } }

describe.each(['modern', 'legacy'] as const)('a server at a third party, %s', (era) => {
  it('sends its user to a page of its own, and keeps credentials apart [M-ELIC-029] [M-ELIC-041] [M-ELIC-042] [M-ELIC-051] [M-ELIC-052] [M-ELIC-053] [L-ELIC-037] [L-ELIC-038]', async () => {
    const { server, visit, git } = makeServer()
    const caller: Caller = { principal: USER, auth: { token: CLIENT_TOKEN } }
    const bare = sessionHandler(server)
    const wire: string[] = []
    const handle = Object.assign(
      async (request: Request): Promise<Response> => {
        wire.push(await request.clone().text())
        const response = await bare(request, caller)
        return response
      },
      { close: () => bare.close() },
    )
    const params = { name: 'repositories' }
    let url: string
    let finish: (action: string) => Promise<JsonObject>
    if (era === 'modern') {
      const { result } = await lastMessage(
        await postModern(handle, 'tools/call', params, capabilities),
      )
      wire.push(JSON.stringify(result))
      const [[key, asked]] = Object.entries(result.inputRequests as JsonObject) as [
        [string, { params: JsonObject }],
      ]
      expect(asked.params.mode).toBe('url')
      url = String(asked.params.url)
      finish = async (action) => {
        const retry = {
          ...params,
          requestState: result.requestState,
          inputResponses: { [key]: { action } },
        }
        const response = await postModern(handle, 'tools/call', retry, capabilities)
        return (await lastMessage(response)).result
      }
    } else {
      const { send } = await openSession(handle, '2025-11-25', capabilities)
      const response = await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      const reader = response.body!.getReader()
      const read = async (wanted: RegExp): Promise<JsonObject> => {
        let said = ''
        for (let found = null; !found; found = wanted.exec(said)) {
          said += new TextDecoder().decode((await reader.read()).value)
        }
        wire.push(said)
        return JSON.parse(/data: (\{.*\})\n/.exec(said)?.[1] ?? '{}') as JsonObject
      }
      const asked = (await read(/elicitation\/create.*\n/)) as { id: string; params: JsonObject }
      expect(asked.params.mode).toBe('url')
      url = String(asked.params.url)
      finish = async (action) => {
        await send({ jsonrpc: '2.0', id: asked.id, result: { action } })
        return (await read(/"result".*\n/)).result as JsonObject
      }
    }

    // The URL contains nothing about the user, and grants no access on its own
    expect(decodeURIComponent(url)).not.toMatch(/ada|example\.com\/?$|token/)
    expect(await visit(url, undefined)).toBe(401)
    expect(await visit(url, 'eve@example.com')).toBe(403)
    expect(await visit(url, USER)).toBe(200)

    const result = await finish('accept')
    wire.push(JSON.stringify(result))
    expect(result.content).toEqual([{ type: 'text', text: 'one,two' }])
    expect(git.shown).toEqual([`third-party-token-of-${USER}`])
    expect(git.shown).not.toContain(CLIENT_TOKEN)
    for (const message of wire) expect(message).not.toContain('third-party-token')
    await handle.close()
  })
})
