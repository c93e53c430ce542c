/**
 * What the check of an access token adds to a `tools/call`, its key being known. Blocks of calls with
 * and without take turns; on a busy machine the quickest tenth tells more than the median, as a
 * signature is checked on another thread.
 */
import {
  jwtTokens,
  protectedResource,
  rememberTokens,
  type TokenVerifier,
} from 'edgewise/protected-resource'
import { createHandler } from 'edgewise/server'
import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import type { Bench } from './bench.ts'
import { template, url } from './requests.ts'
import type { Handler } from './subject.ts'
import { createEdgewise } from './subjects/edgewise-server.ts'

/** Calls in a row. */
const BLOCK = 100
const issuer = 'https://issuer.example'

export const bench: Bench = {
  title: 'tools/call with a JWT, in process (time added to that of an open server)',
  tables: async ({ scale }) => {
    const calls = Math.ceil(4000 * scale)
    const rows: string[][] = []
    const data: unknown[] = []
    for (const alg of ['ES256', 'RS256', 'EdDSA']) {
      const open = caller(createHandler(createEdgewise('echo')), {})
      const { checked, remembered, signature } = await protect(alg)
      const contenders = { open, checked, remembered, signature }
      const times: Record<keyof typeof contenders, number[]> = {
        open: [],
        checked: [],
        remembered: [],
        signature: [],
      }
      for (let done = -BLOCK * 5; done < calls; done += BLOCK) {
        for (const name of ['open', 'checked', 'remembered', 'signature'] as const) {
          const took = await block(contenders[name])
          // The first ones are cold
          if (done >= 0) times[name].push(...took)
        }
      }
      const [quick, middle] = [0.1, 0.5].map((part) => ({
        open: at(times.open, part),
        checked: at(times.checked, part) - at(times.open, part),
        remembered: at(times.remembered, part) - at(times.open, part),
        signature: at(times.signature, part),
      }))
      if (!quick || !middle) continue
      const { checked: adds, remembered: addsLess, signature: alone } = quick
      const cells = [quick.open, adds, addsLess, alone, middle.checked, middle.remembered]
      rows.push([alg, '', ...cells.map((ms) => ms.toFixed(3))])
      data.push({ alg, quickestTenthMs: quick, medianMs: middle })
    }
    const head = ['', 'open', 'adds', 'remembered', 'jose alone', 'median: adds', 'remembered']
    return [{ label: 'ms, by', goal: 'adds ≤ 0.3 ms', head, rows, data }]
  },
}

interface Calls {
  /** A call whose token is checked from scratch. */
  checked: () => Promise<void>
  /** A call whose token was seen before. */
  remembered: () => Promise<void>
  /** What of the first is the check of the signature. */
  signature: () => Promise<void>
}

async function protect(alg: string): Promise<Calls> {
  const { publicKey, privateKey } = await generateKeyPair(alg)
  const token = await new SignJWT({ scope: 'mcp', client_id: 'bench' })
    .setProtectedHeader({ alg, kid: '1', typ: 'at+jwt' })
    .setIssuer(issuer)
    .setSubject('ada')
    .setAudience(url)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey)
  const keys = { keys: [{ ...(await exportJWK(publicKey)), alg, kid: '1' }] }
  const verify = jwtTokens({ jwks: keys })
  const call = (how: TokenVerifier): (() => Promise<void>) =>
    caller(
      createHandler(createEdgewise('echo'), {
        protect: protectedResource({
          resource: url,
          authorizationServers: [issuer],
          verify: how,
          scopes: ['mcp'],
        }),
      }),
      { authorization: `Bearer ${token}` },
    )
  return {
    checked: call(verify),
    remembered: call(rememberTokens(verify)),
    signature: async () => void (await jwtVerify(token, publicKey)),
  }
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

/** What each call of a block takes, in milliseconds. */
async function block(call: () => Promise<void>): Promise<number[]> {
  const took: number[] = []
  for (let done = 0; done < BLOCK; done++) {
    const start = performance.now()
    await call()
    took.push(performance.now() - start)
  }
  return took
}

/** The value below which a part of all values is. */
function at(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN
}
