/**
 * A gateway: what a connected server offers becomes part of a server, or a server of its own.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { Client } from '../client/client.ts'
import type { ConnectOptions } from '../client/options.ts'
import type { Server, ServerOptions } from './definition.ts'
import { createCalls, pass, questionsOf, unanswered } from './gateway-calls.ts'
import { offerOf, type Behind } from './gateway-offer.ts'
import { passSubscriptions } from './gateway-subscriptions.ts'
import { createMirror, NO_OFFER } from './mirror.ts'
import type { Mount } from './mount.ts'
import type { ReadReturn } from './resources.ts'
import { createServer, wholeDefinitionOf } from './server.ts'

/** Connects to the other server, with the options that it is given beside its own. */
export type Connector = (options: ConnectOptions) => Promise<Client>

/** A server that stands in front of another. */
export interface Gateway {
  /** Offers all that the other server offers, under the same names; its info and instructions too. */
  readonly server: Server
  /** Takes everything away, and closes the connection to the other server. */
  close(): Promise<void>
}

/**
 * Makes what a connected server offers part of a server: tools and prompts as `prefix_name`,
 * resources under their own URIs. Progress, logs, cancellation, questions, completions,
 * subscriptions and errors pass through, and what the other server announces is followed.
 *
 * In revisions with sessions a question of the other server does not say which call it belongs to:
 * it is passed on while one call is under way, and cancelled otherwise, so that no user is asked
 * for another. Of the resources that somebody wanted to hear of the newest 1,000 are watched, and
 * those that somebody listens to give way to no other; to listen to more is refused. A template that
 * cannot be matched here is left out, and told to `onError`.
 *
 * @param prefix When empty, names stay as they are.
 * @throws {TypeError} when a name or URI is taken, or the server was not made by `createServer`.
 * @throws {McpError} as connecting and listing.
 */
export async function mountClient(
  server: Server,
  prefix: string,
  connect: Connector,
): Promise<Mount> {
  wholeDefinitionOf(server)
  const { unmount } = await attach(() => server, prefix, connect)
  return { unmount }
}

/**
 * Connects to a server and makes another that offers the same, in every revision and over every
 * transport; as {@link mountClient} otherwise.
 *
 * @throws {McpError} as connecting and listing.
 */
export async function createGateway(
  connect: Connector,
  options: ServerOptions = {},
): Promise<Gateway> {
  const choose = ({ serverInfo, instructions }: Client): Server => {
    const info = serverInfo ?? { name: 'gateway', version: '0' }
    return createServer(info, { ...(instructions !== undefined && { instructions }), ...options })
  }
  const { server, unmount } = await attach(choose, '', connect)
  return { server, close: unmount }
}

async function attach(
  choose: (client: Client) => Server,
  prefix: string,
  connect: Connector,
): Promise<Mount & { server: Server }> {
  const calls = createCalls()
  let update: (() => Promise<void>) | undefined
  let report: (error: unknown) => void = () => {}
  let looked: Promise<void> = Promise.resolve()
  let looksAgain = false
  // One look after the other, as the answers to an earlier one may be older and come later
  const follow = (): void => {
    if (looksAgain) return
    looksAgain = true
    looked = looked
      .then(() => {
        looksAgain = false
        return update?.()
      })
      .catch((error: unknown) => {
        if (update) report(error)
      })
  }
  let updated: (uri: string) => void = () => {}
  let completed: (elicitationId: string) => void = () => {}
  const client = await connect({
    ...questionsOf(calls, (id) => completed(id)),
    onToolsChanged: follow,
    onPromptsChanged: follow,
    onResourcesChanged: follow,
    onResourceUpdated: (uri) => updated(uri),
  })
  const server = choose(client)
  const target = wholeDefinitionOf(server)
  report = (error) => target.report(error)
  updated = (uri) => server.notify.resourceUpdated(uri)
  completed = (id) => server.notify.elicitationComplete(id)
  // Of entries that are made anew each time, only what was listed can differ
  const mirror = createMirror(target, ({ item: one }, { item: other }) => {
    return JSON.stringify(one) !== JSON.stringify(other)
  })
  const passOn: Behind['pass'] = (method, params, ctx) =>
    pass(client, calls, ctx, method, params).catch((error: unknown) => {
      const told = unanswered(method, error)
      // The caller learns that there is no answer; why is for those who run this.
      if (told) report(error)
      throw told ?? error
    })
  const behind: Behind = {
    client,
    prefix,
    pass: passOn,
    read: ({ uri }, ctx) => passOn('resources/read', { uri }, ctx) as Promise<ReadReturn>,
    report,
  }
  update = async () => {
    const offer = await offerOf(behind)
    if (update) mirror(offer)
  }
  try {
    const first = update()
    looked = first.catch(() => {})
    await first
  } catch (error) {
    await client.close()
    throw error
  }
  const ignore = passSubscriptions(server, behind)
  return {
    server,
    async unmount() {
      update = undefined
      ignore()
      mirror(NO_OFFER)
      await client.close()
    },
  }
}
