/**
 * The cost that checking an access token adds to a `tools/call`, with a cached key: the first time, when
 * its signature is verified, and later, when the token is cached. For comparison the floor, WebCrypto's
 * verification of the signature with an imported key, and jose's verification of the whole token:
 * Edgewise cannot be faster than these. Blocks of calls of each kind alternate; on a busy machine the
 * fastest tenth is more meaningful than the median, because signatures are verified on another thread.
 */
import { jwtTokens, protectedResource, type TokenVerifier } from 'edgewise/protected-resource'
import { createHandler } from 'edgewise/server'
import { base64url, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import type { Bench } from './bench.ts'
import { template, url } from './requests.ts'
import type { Handler } from './subject.ts'
import { createEdgewise } from './subjects/edgewise-server.ts'

/** The number of consecutive calls. */
const BLOCK = 100
const issuer = 'https://issuer.example'

/** What is measured, each separately. */
const KINDS = ['open', 'floor', 'jose', 'first', 'later'] as const
type Kind = (typeof KINDS)[number]

/** The algorithms of tokens, by their names in WebCrypto. */
const ALGORITHMS: Record<string, { name: string; hash?: string }> = {
  ES256: { name: 'ECDSA', hash: 'SHA-256' },
  RS256: { name: 'RSASSA-PKCS1-v1_5' },
  EdDSA: { name: 'Ed25519' },
}

export const bench: Bench = {
  title: 'tools/call with a JWT, in process (sights: time added to that of an open server)',
  tables: async ({ scale }) => {
    const calls = Math.ceil(4000 * scale)
    const rows: string[][] = []
    const data: unknown[] = []
    for (const alg of Object.keys(ALGORITHMS)) {
      const work = await contenders(alg)
      const times: Record<Kind, number[]> = { open: [], floor: [], jose: [], first: [], later: [] }
      for (let done = -BLOCK * 5; done < calls; done += BLOCK) {
        for (const kind of KINDS) {
          const took = await timeBlock(work[kind])
          // The first blocks are cold
          if (done >= 0) times[kind].push(...took)
        }
      }
      for (const [statistic, share] of Object.entries({ 'quickest tenth': 0.1, median: 0.5 })) {
        const ms = (kind: Kind): number => quantile(times[kind], share)
        const open = ms('open')
        const adds = { first: ms('first') - open, later: ms('later') - open }
        const figures = [open, ms('floor'), ms('jose'), adds.first, adds.later]
        rows.push([alg, statistic, ...figures.map((figure) => figure.toFixed(3))])
        data.push({
          alg,
          statistic,
          openMs: open,
          floorMs: ms('floor'),
          joseMs: ms('jose'),
          addsMs: adds,
        })
      }
    }
    const head = ['', 'open', 'subtle.verify', 'jose alone', 'first sight adds', 'later sights add']
    return [{ label: 'ms, by', goal: 'first sight adds ≤ 0.3 ms', head, rows, data }]
  },
}

async function contenders(alg: string): Promise<Record<Kind, () => Promise<void>>> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const token = await new SignJWT({ scope: 'mcp', client_id: 'bench' })
    .setProtectedHeader({ alg, kid: '1', typ: 'at+jwt' })
    .setIssuer(issuer)
    .setSubject('ada')
    .setAudience(url)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey)
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg, kid: '1' }] }
  const call = (verify: TokenVerifier): (() => Promise<void>) =>
    caller(
      createHandler(createEdgewise('echo'), {
        auth: protectedResource({
          resource: url,
          authorizationServers: [issuer],
          verify,
          scopes: ['mcp'],
        }),
      }),
      { authorization: `Bearer ${token}` },
    )
  const [, signed = '', encoded = ''] = /^(.+)\.(.+)$/.exec(token) ?? []
  const algorithm = ALGORITHMS[alg]!
  const signature = new Uint8Array(base64url.decode(encoded))
  const bytes = new TextEncoder().encode(signed)
  return {
    open: caller(createHandler(createEdgewise('echo')), {}),
    floor: async () => {
      const isValid = await crypto.subtle.verify(algorithm, publicKey, signature, bytes)
      if (!isValid) throw new Error('The signature is wrong')
    },
    jose: async () => void (await jwtVerify(token, publicKey)),
    first: call(jwtTokens({ jwks, cacheTtlMs: 0 })),
    later: call(jwtTokens({ jwks })),
  }
}

function caller(handle: Handler, extraHeaders: Record<string, string>): () => Promise<void> {
  const params = { name: 'echo', arguments: { text: 'hi' } }
  const { headers, body } = template('tools/call', params, undefined)
  const all = { ...headers, ...extraHeaders }
  let id = 0
  return async () => {
    const request = new Request(url, { method: 'POST', headers: all, body: body(++id) })
    const text = await (await handle(request)).text()
    if (!text.includes('"text":"hi"')) throw new Error(`Answered ${text}`)
  }
}

/** The duration of each call of a block, in milliseconds. */
async function timeBlock(call: () => Promise<void>): Promise<number[]> {
  const took: number[] = []
  for (let done = 0; done < BLOCK; done++) {
    const start = performance.now()
    await call()
    took.push(performance.now() - start)
  }
  return took
}

/** The quantile of all values. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}
