/**
 * The secrets that encrypt the state that is passed through clients. Without configuration, a secret is
 * generated once and stored in a Durable Object, so that a new project works immediately.
 *
 * @see https://developers.cloudflare.com/workers/configuration/secrets/
 */
import { env } from 'cloudflare:workers'
import type { Secrets } from '#internal/http'
import { SdkError } from '../../src/index.ts'
import { requireNamespace } from './bindings.ts'
import { withObjectTimeout } from './object-timeout.ts'
import type { WorkerOptions } from './options.ts'

/**
 * The name of the Durable Object that stores the generated secret. The object is an instance of `McpSession`, the class
 * of the objects of sessions. No session has its id, because ids of sessions are random and not derived from names.
 */
const SECRET_OBJECT = 'edgewise sealing secret'

/** The minimum length of a secret. It is checked here, so that the error can name the variable `MCP_SECRET`. */
const MIN_CHARACTERS = 16

/**
 * Returns the secrets that the application configured, if any.
 *
 * @throws {SdkError} `INVALID_USE` if `MCP_SECRET` is too short. The secrets of the option `secrets` are
 *   checked later, when they are used.
 */
export function configuredSecrets({ secrets }: WorkerOptions): Secrets | undefined {
  if (secrets !== undefined) return secrets
  const { MCP_SECRET: secret } = env as { MCP_SECRET?: string }
  if (secret === undefined || secret.length >= MIN_CHARACTERS) return secret
  const message = `Cannot seal state: "MCP_SECRET" must have at least ${MIN_CHARACTERS} characters`
  throw new SdkError('INVALID_USE', message)
}

/**
 * Returns the secrets of a handler: the configured secrets, or a function that returns the generated secret.
 */
export function sealingSecrets(options: WorkerOptions): Secrets {
  const { sessionBinding = 'MCP_SESSION', stateless } = options
  const getGeneratedSecret = async (): Promise<string> => {
    if (stateless) {
      const message =
        'A handler requested input, which needs a secret on a stateless Worker: run "wrangler secret put MCP_SECRET"'
      console.error(message)
      throw new Error(message)
    }
    const namespace = requireNamespace(env, sessionBinding, 'McpSession')
    return withObjectTimeout('object that stores the sealing secret', () =>
      namespace.get(namespace.idFromName(SECRET_OBJECT)).sealingSecret(),
    )
  }
  return configuredSecrets(options) ?? getGeneratedSecret
}
