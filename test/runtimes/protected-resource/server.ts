/** The protection of the server that runs on every runtime. */
import type { JSONWebKeySet } from 'jose'
import { dpopProofs, jwtTokens, protectedResource } from '../../../src/protected-resource/index.ts'
import type { Authenticator } from '../../../src/presets/server.ts'
import { ISSUER, RESOURCE } from '../../protected-resource/issuer.ts'

/** @param keys the key set of the issuer, as JSON. */
export function protection(keys = '{ "keys": [] }'): Authenticator {
  return protectedResource({
    resource: RESOURCE,
    authorizationServers: [ISSUER],
    verify: jwtTokens({ jwks: JSON.parse(keys) as JSONWebKeySet }),
    dpop: dpopProofs(),
  })
}
