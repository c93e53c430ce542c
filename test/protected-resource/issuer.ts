/** An issuer of access tokens in memory: its keys, its metadata, and what it signs. */
import {
  base64url,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JSONWebKeySet,
  type JWK,
} from 'jose'

export const ISSUER = 'https://issuer.example'
export const RESOURCE = 'https://mcp.example/mcp'

/** One signing key. */
export interface SigningKey {
  kid: string
  alg: string
  privateKey: CryptoKey
  jwk: JWK
}

/** Makes a key. */
export async function makeKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg } }
}

/** An issuer whose responses can be broken. */
export class Issuer {
  readonly issuer: string
  keys: SigningKey[]
  /** The addresses that were fetched. */
  readonly fetched: string[] = []
  /** Answers in place of the key set. */
  brokenResponse: (() => Response | Promise<Response>) | undefined

  constructor(keys: SigningKey[], issuer: string = ISSUER) {
    this.keys = keys
    this.issuer = issuer
  }

  static async make(issuer?: string): Promise<Issuer> {
    return new Issuer([await makeKey('first')], issuer)
  }

  get jwks(): JSONWebKeySet {
    return { keys: this.keys.map(({ jwk }) => jwk) }
  }

  /** What the network answers. */
  readonly fetch: typeof globalThis.fetch = async (input) => {
    const url = input instanceof Request ? input.url : String(input)
    this.fetched.push(url)
    await new Promise((resolve) => setTimeout(resolve))
    if (url === `${this.issuer}/.well-known/oauth-authorization-server`) {
      return Response.json({ issuer: this.issuer, jwks_uri: `${this.issuer}/jwks` })
    }
    if (url !== `${this.issuer}/jwks`) return new Response('Not found', { status: 404 })
    return (await this.brokenResponse?.()) ?? Response.json(this.jwks)
  }

  /** A token that is good unless `claims` or `key` make it invalid. `undefined` leaves a claim out. */
  async token(
    claims: Record<string, unknown> = {},
    { key = this.keys[0], header = {} }: { key?: SigningKey; header?: object } = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const all = {
      iss: this.issuer,
      sub: 'ada',
      aud: RESOURCE,
      client_id: 'client-1',
      scope: 'mcp',
      iat: now,
      exp: now + 300,
      ...claims,
    }
    const { kid, alg, privateKey } = key!
    return new SignJWT(all)
      .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header })
      .sign(privateKey)
  }
}

/** A token without a signature. */
export function unsigned(token: string): string {
  const [, payload] = token.split('.')
  return `${base64url.encode(JSON.stringify({ alg: 'none', typ: 'at+jwt' }))}.${payload}.`
}

/** The key of a client that proves possession. */
export class Prover {
  readonly #key: SigningKey
  readonly thumbprint: string

  private constructor(key: SigningKey, thumbprint: string) {
    this.#key = key
    this.thumbprint = thumbprint
  }

  static async make(): Promise<Prover> {
    const key = await makeKey('proof')
    return new Prover(key, await calculateJwkThumbprint(key.jwk))
  }

  /** A proof for a token that is good unless `claims` or `header` make it invalid. */
  async proof(
    token: string,
    claims: Record<string, unknown> = {},
    header: object = {},
  ): Promise<string> {
    const { kty, crv, x, y } = this.#key.jwk
    const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
    const all = {
      htm: 'POST',
      htu: RESOURCE,
      jti: crypto.randomUUID(),
      iat: Math.floor(Date.now() / 1000),
      ath: base64url.encode(new Uint8Array(hash)),
      ...claims,
    }
    return new SignJWT(all)
      .setProtectedHeader({
        alg: 'ES256',
        typ: 'dpop+jwt',
        jwk: { kty, crv, x, y } as JWK,
        ...header,
      })
      .sign(this.#key.privateKey)
  }
}
