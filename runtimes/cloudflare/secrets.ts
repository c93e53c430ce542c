/**
 * The secret that seals what travels through clients: given, or minted once and kept by an object, so
 * that a new project works without any configuration.
 *
 * @see https://developers.cloudflare.com/workers/configuration/secrets/
 */
import { env } from 'cloudflare:workers'
import type { Secrets } from '#internal/http'
import { SdkError } from '../../src/index.ts'
import { requireNamespace } from './bindings.ts'
import { withObjectTimeout } from './object-timeout.ts'
import type { WorkerOptions } from './options.ts'

/** No session can have this name, since session ids are not derived from names. */
const KEEPER = 'edgewise sealing secret'

/** The minimum length, checked here so that the error for a short secret can name it. */
const MIN_CHARACTERS = 16

/**
 * The secrets that the application configured, if any.
 *
 * @throws {SdkError} `INVALID_USE` if `MCP_SECRET` is too short; others are checked by the sealer.
 */
export function configuredSecrets({ secrets }: WorkerOptions): Secrets | undefined {
  if (secrets !== undefined) return secrets
  const { MCP_SECRET: secret } = env as { MCP_SECRET?: string }
  if (secret === undefined || secret.length >= MIN_CHARACTERS) return secret
  const message = `Cannot seal state: "MCP_SECRET" must have at least ${MIN_CHARACTERS} characters`
  throw new SdkError('INVALID_USE', message)
}

/** The secrets of a handler: the configured ones, which it can check early, or the generated one. */
export function sealingSecrets(options: WorkerOptions): Secrets {
  const { sessionBinding = 'MCP_SESSION', stateless } = options
  const mint = async (): Promise<string> => {
    if (stateless) {
      const message =
        'A handler requested input, which needs a secret here: run "wrangler secret put MCP_SECRET"'
      console.error(message)
      throw new Error(message)
    }
    const namespace = requireNamespace(env, sessionBinding, 'McpSession')
    return withObjectTimeout('keeper of the sealing secret', () =>
      namespace.get(namespace.idFromName(KEEPER)).sealingSecret(),
    )
  }
  return configuredSecrets(options) ?? mint
}
