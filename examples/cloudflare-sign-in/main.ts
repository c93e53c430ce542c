// Signs a client in to the Worker in this folder as a browser would: registration, consent, code, token.
// Then the client calls a tool that needs more scopes, and the user has to consent again.
import assert from 'node:assert/strict'
import { signIn } from 'edgewise/authorization'
import { connect } from 'edgewise/client'
import { start } from './start.ts'

const { origin, stop } = await start()

// The challenge contains the URL at which a client finds the authorization server.
const refused = await fetch(`${origin}/mcp`, { method: 'POST' })
assert.equal(refused.status, 401)
assert.match(refused.headers.get('www-authenticate') ?? '', /scope="notes:read"/)
const metadata = await fetch(`${origin}/.well-known/oauth-protected-resource/mcp`)
assert.equal(((await metadata.json()) as { resource: string }).resource, `${origin}/mcp`)

/** Submits the consent page as approved, and returns the URL that it redirects to. */
async function consent(url: string): Promise<string> {
  const page = await fetch(url)
  const cookies = page.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
  const html = await page.text()
  const [, handle = ''] = /name="handle" value="([^"]+)"/.exec(html) ?? []
  const scopes = [...html.matchAll(/<li>([^<]+)/g)].map(([, scope]) => scope)
  console.log(`Consented to ${scopes.join(', ')}`)
  const answer = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: cookies.join('; '), origin },
    body: new URLSearchParams({ handle, user: 'ada' }),
  })
  return answer.headers.get('location') ?? ''
}

const redirect = { redirectUri: 'http://127.0.0.1:7777/callback', go: consent }
const auth = signIn({ client: { name: 'Example client' }, interaction: { begin: () => redirect } })

for (const revision of ['2026-07-28', '2025-11-25'] as const) {
  await using client = await connect(`${origin}/mcp`, { auth, revision })
  const before = await client.callTool('list')
  await client.callTool('write', { text: `Written in ${revision}` })
  const after = await client.callTool('list')
  assert.equal(textOf(after), `${textOf(before)}Written in ${revision}\n`)
}

function textOf({ content }: { content: { type: string }[] }): string {
  return (content[0] as { text: string } | undefined)?.text ?? ''
}

await stop()
