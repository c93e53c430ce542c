/**
 * Loads the code that answers the requests of a server and announces its changes. The code is loaded when a client
 * first needs it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import { ignore } from '../../patterns/hooks.ts'
import { toErrorObject } from '../../protocol/errors.ts'
import { errorResponse } from '../../protocol/jsonrpc.ts'
import type { LoggingLevel } from '../../protocol/types.ts'
import type { Connection } from '../connection.ts'
import type { ChangeListeners, InputHandlers } from '../features.ts'
import type { ConnectOptions } from '../options.ts'
import type { createInteraction, Interaction } from './interaction.ts'
import { forgetStale } from './stale-results.ts'
import { receiveOnStream } from './stream-notifications.ts'

/** The module that is loaded. */
interface InteractionCode {
  readonly createInteraction: typeof createInteraction
}

/** The features of a client whose code may not be loaded yet. */
export interface InteractionOnDemand {
  readonly inputHandlers: InputHandlers
  readonly changes: ChangeListeners & { logLevel: LoggingLevel | undefined }
  /**
   * Returns the handlers of requests and changes, after loading their code if necessary. Concurrent callers
   * continue in the order of their calls.
   *
   * @throws {SdkError} `NETWORK` if the code cannot be loaded. The next call then tries again.
   */
  load(): Promise<Interaction>
}

/** Matches the names of the options that need the code at once: hooks, handlers and extensions. */
const URGENT_OPTION = /^(?:on(?!Error)|roots|extensions)/

/**
 * Whether the options of a client need the code at once, so that nothing that the server sends has to wait
 * for it.
 */
export function needsInteraction(options: ConnectOptions): boolean {
  return Object.keys(options).some((name) => URGENT_OPTION.test(name))
}

/**
 * Creates the features of a client that answer requests and announce changes.
 *
 * @param loadCode Loads the code.
 * @param code The code, if it is already loaded.
 */
export function interactionOnDemand(
  connection: Connection,
  options: ConnectOptions,
  loadCode: () => Promise<InteractionCode>,
  code: InteractionCode | undefined,
): InteractionOnDemand {
  let loaded = code?.createInteraction(connection, options)
  let loading = loaded && Promise.resolve(loaded)
  const load = (): Promise<Interaction> =>
    (loading ??= loadCode().then(
      ({ createInteraction }) => (loaded = createInteraction(connection, options)),
      (error: unknown) => {
        loading = undefined
        throw error
      },
    ))

  const changes: InteractionOnDemand['changes'] = {
    logLevel: undefined,
    start: () => loaded?.subscriptions.start(),
    receive(message) {
      if (connection.revision.era === 'modern') receiveOnStream(connection, message)
      else if (loaded) loaded.subscriptions.receive(message)
      else forgetStale(connection.cache, message)
    },
    announceAll() {
      if (loaded) return loaded.subscriptions.announceAll()
      connection.cache?.forget(
        'tools/list',
        'prompts/list',
        'resources/list',
        'resources/templates/list',
      )
    },
    async restore() {
      const { logLevel: level } = changes
      const levelCall = level && connection.start('logging/setLevel', { level })
      await levelCall?.result.catch((error) => connection.reportError(error))
      await loaded?.subscriptions.restore()
      changes.announceAll()
    },
    close: () => loaded?.subscriptions.close(),
  }

  /**
   * Loads the code when the first request arrives. The code rejects a request without a handler, unless middleware
   * answers it.
   */
  const inputOnDemand: InputHandlers = {
    get isAnswering() {
      return loaded?.input.isAnswering
    },
    noteRequest: (message) => loaded?.input.noteRequest(message),
    answerRequest(message, call) {
      const answering = load().then(
        ({ input }) => {
          connection.requireOpen()
          input.answerRequest(message, call)
        },
        (error: unknown) => {
          connection.respond(errorResponse(message.id, toErrorObject(error)))
          throw error
        },
      )
      connection.reportFailureOf(answering)
    },
    receive: (message) => void loading?.then(({ input }) => input.receive(message), ignore),
    answerInputs: async (...args) => (await load()).input.answerInputs(...args),
    close: () => loaded?.input.close(),
  }

  return { inputHandlers: loaded?.input ?? inputOnDemand, changes, load }
}
