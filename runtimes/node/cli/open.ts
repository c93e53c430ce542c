/**
 * Connects to the server that a command line names.
 */
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { compareCard } from '../../../src/cards/index.ts'
import { SdkError } from '../../../src/index.ts'
import {
  connect,
  type AuthProvider,
  type Client,
  type ConnectOptions,
} from '../../../src/presets/client.ts'
import { fileTokenStore } from '../file-tokens.ts'
import { loopback } from '../loopback.ts'
import { stdioClient } from '../stdio-client.ts'
import type { Invocation, Options, Target } from './arguments.ts'
import { askUser } from './ask.ts'
import { interruption } from './interrupted.ts'
import { printNotice } from './print.ts'

/** Thrown if the command cannot connect to a server. */
export class ConnectError extends Error {}

/**
 * Connects to the server.
 *
 * @param onEnded Called with the reason when an open connection ends, for example because a program has
 *   exited.
 * @throws {ConnectError} If connecting fails. The message contains the reason.
 */
export async function open(
  { target, options }: Pick<Invocation, 'target' | 'options'>,
  extraOptions: ConnectOptions = {},
  onEnded: (reason: Error) => void = () => {},
): Promise<Client> {
  const { revision, timeoutMs, yes, verbose, headers, signIn } = options
  let isConnected = false
  const connectTarget = toConnectTarget(target, options, (reason) => {
    if (isConnected) onEnded(reason)
  })
  try {
    const client = await connect(connectTarget, {
      signal: interruption,
      ...(signIn && { auth: await signInWithBrowser() }),
      headers,
      onElicit: (params, context) => askUser(params, context, yes),
      capabilities: { elicitation: { form: {}, url: {} } },
      ...(revision && { revision }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      onError: (error) => {
        if (verbose) printNotice(`Problem: ${error.message}`)
      },
      ...extraOptions,
    })
    isConnected = true
    if ('card' in target && target.card) await reportDifferences(target.card, client)
    return client
  } catch (error) {
    throw new ConnectError(connectMessage(error, target, options), {
      cause: error,
    })
  }
}

/** Prints the differences between a server and its card. */
async function reportDifferences(
  card: Parameters<typeof compareCard>[0],
  client: Client,
): Promise<void> {
  const cards = await import('../../../src/cards/index.ts')
  for (const { member, card: claimed, server } of cards.compareCard(card, client)) {
    const [cardText, serverText] = [JSON.stringify(claimed), JSON.stringify(server)]
    printNotice(`The card gives ${cardText} as "${member}", but the server gives ${serverText}`)
  }
}

/** Converts the target of a command to a target of `connect`: a URL, or a transport that starts a program. */
function toConnectTarget(
  target: Target,
  { env, cwd }: Options,
  onEnded: (reason: Error) => void,
): Parameters<typeof connect>[0] {
  if ('url' in target) return target.url
  const child = stdioClient({ ...target, env, ...(cwd !== undefined && { cwd }) })
  return {
    start: (receiver) =>
      child.start({
        message: (frame) => receiver.message(frame),
        malformed: (error) => receiver.malformed(error),
        closed(reason) {
          receiver.closed(reason)
          onEnded(reason ?? new SdkError('CLOSED', `The server "${target.command}" has ended`))
        },
      }),
    send: (frame) => child.send(frame),
    close: () => child.close(),
    restart: () => child.restart(),
  }
}

function connectMessage(error: unknown, target: Target, options: Options): string {
  const server = 'url' in target ? target.url : target.command
  const requiredScopes = describeRequiredScopes(error)
  const scopeHint = requiredScopes === '' ? '' : `. ${requiredScopes}`
  return `Cannot connect to ${server}: ${messagesOf(error)}${adviceFor(error, target, options)}${scopeHint}`
}

/** The messages of an error and its causes. */
export function messagesOf(error: unknown): string {
  return [...errorMessages(error)].join(': ')
}

/** Names the scopes that a token must have, if the server's challenge lists them; otherwise empty. */
export function describeRequiredScopes(error: unknown): string {
  if (!(error instanceof SdkError)) return ''
  const { challenge } = (error.data ?? {}) as { challenge?: string }
  const [, scope] = /\bscope="([^"]*)"/.exec(challenge ?? '') ?? []
  return scope === undefined ? '' : `It requires a token with the scopes ${scope}`
}

/** What the user can do about an error, as the end of a message; empty if nothing is known. */
function adviceFor(error: unknown, target: Target, { headers, signIn }: Options): string {
  if (!(error instanceof SdkError)) return ''
  const { status } = (error.data ?? {}) as { status?: number }
  if (status === 404 && 'url' in target && new URL(target.url).pathname === '/') {
    return `; the path may be missing: try ${new URL('/mcp', target.url).href}`
  }
  if (error.code !== 'UNAUTHORIZED') return ''
  if (headers.has('authorization')) return '; the token was rejected'
  return signIn ? '' : '; try --sign-in or --token, or --header for keys of other kinds'
}

/** Signs in with the user's browser, and stores the tokens in the user's state folder. */
export async function signInWithBrowser(): Promise<AuthProvider> {
  // Loaded on demand, so that other commands do not load it
  const { signIn } = await import('../../../src/authorization/index.ts')
  const { XDG_STATE_HOME, LOCALAPPDATA } = process.env
  const stateFolder = XDG_STATE_HOME ?? LOCALAPPDATA ?? join(homedir(), '.local', 'state')
  return signIn({
    client: { name: 'Edgewise' },
    interaction: loopback(),
    tokens: fileTokenStore(join(stateFolder, 'edgewise')),
  })
}

/** Yields the message of an error, and those of its causes that the message does not contain. */
function* errorMessages(error: unknown): Generator<string> {
  const message = (error instanceof Error ? error.message : String(error)).trim()
  yield message
  if (!(error instanceof Error) || error.cause === undefined) return
  for (const other of errorMessages(error.cause)) if (!message.includes(other)) yield other
}
