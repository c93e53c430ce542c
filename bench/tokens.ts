/**
 * What the check of an access token adds to a `tools/call`, its key being known. Single calls with
 * and without take turns; on a busy machine the quickest tenth tells more than the median, as a
 * signature is checked on another thread.
 */
import { jwtTokens, protectedResource } from 'edgewise/protected-resource'
import { createHandler } from 'edgewise/server'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { Bench } from './bench.ts'
import { template, url } from './requests.ts'
import type { Handler } from './subject.ts'
import { createEdgewise } from './subjects/edgewise-server.ts'

const issuer = 'https://issuer.example'

export const bench: Bench = {
  title: 'tools/call with a JWT, in process (time added to that of an open server)',
  tables: async ({ scale }) => {
    const calls = Math.ceil(4000 * scale)
    const rows: string[][] = []
    const data: unknown[] = []
    for (const alg of ['ES256', 'RS256', 'EdDSA']) {
      const open = caller(createHandler(createEdgewise('echo')), {})
      const { handle, headers } = await protect(alg)
      const protectedCall = caller(handle, headers)
      const times: Record<'open' | 'protected', number[]> = { open: [], protected: [] }
      for (let done = -500; done < calls; done++) {
        const [one, other] = [await timed(open), await timed(protectedCall)]
        if (done < 0) continue
        times.open.push(one)
        times.protected.push(other)
      }
      const added = [0.1, 0.5].map((part) => at(times.protected, part) - at(times.open, part))
      const cells = [at(times.open, 0.1), at(times.protected, 0.1)].map((ms) => ms.toFixed(3))
      rows.push([alg, '', ...cells, ...added.map((ms) => ms.toFixed(3))])
      data.push({ alg, addsMs: { quickestTenth: added[0], median: added[1] } })
    }
    const head = ['', 'open ms', 'protected ms', 'adds ms', 'adds ms (median)']
    return [{ label: 'signed with', goal: '≤ 0.3 ms', head, rows, data }]
  },
}

/** A protected handler, and headers with a token for it. */
async function protect(alg: string): Promise<{ handle: Handler; headers: Record<string, string> }> {
  const { publicKey, privateKey } = await generateKeyPair(alg)
  const token = await new SignJWT({ scope: 'mcp', client_id: 'bench' })
    .setProtectedHeader({ alg, kid: '1', typ: 'at+jwt' })
    .setIssuer(issuer)
    .setSubject('ada')
    .setAudience(url)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey)
  const handle = createHandler(createEdgewise('echo'), {
    protect: protectedResource({
      resource: url,
      authorizationServers: [issuer],
      verify: jwtTokens({ jwks: { keys: [{ ...(await exportJWK(publicKey)), alg, kid: '1' }] } }),
      scopes: ['mcp'],
    }),
  })
  return { handle, headers: { authorization: `Bearer ${token}` } }
}

function caller(handle: Handler, more: Record<string, string>): () => Promise<void> {
  const params = { name: 'echo', arguments: { text: 'hi' } }
  const { headers, body } = template('tools/call', params, undefined)
  const all = { ...headers, ...more }
  let id = 0
  return async () => {
    const request = new Request(url, { method: 'POST', headers: all, body: body(++id) })
    const text = await (await handle(request)).text()
    if (!text.includes('"text":"hi"')) throw new Error(`Answered ${text}`)
  }
}

async function timed(call: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await call()
  return performance.now() - start
}

/** The value below which a part of all values is. */
function at(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN
}
