/**
 * An open connection: its client, the lists of its server, and the resources that it subscribes to.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { RequestId } from 'edgewise/browser'
import type { Client } from 'edgewise/client'
import type { SignIn } from 'edgewise/authorization'
import type { DetailedTask } from 'edgewise/tasks'
import { titleOf, type Catalog } from '../catalog.ts'
import type { Traffic } from './traffic.ts'

/** An open connection. */
export interface Connection {
  client: Client
  readonly url: string
  readonly auth: SignIn
  /** The id of the session, if there is one. */
  session: string | undefined
  /** Whether the server refused a request because of its session, although the page has received no id. */
  lacksSession: boolean
  /** Whether requests carry a token of a sign-in. */
  signedIn: boolean
  catalog: Catalog
  /** The last known state of the tasks that calls became. The task id is the progress token of such a call. */
  readonly tasks: Map<RequestId, DetailedTask>
  readonly traffic: Traffic
  readonly subscriptions: Subscriptions
}

/** The resources whose updates the server announces to the page. */
export interface Subscriptions {
  /** Whether the server declares that it announces updates of resources. */
  readonly isSupported: boolean
  has(uri: string): boolean
  /** Subscribes to a resource. @throws {SdkError | ProtocolError} If the server rejects the subscription. */
  subscribe(uri: string): Promise<void>
  unsubscribe(uri: string): Promise<void>
  /** Calls a function after each update of a resource. Returns a function that stops the calls. */
  onUpdated(uri: string, listener: () => void): () => void
}

/** Subscriptions, as their owner sees them. */
export interface OwnSubscriptions extends Subscriptions {
  /** Notifies the listeners of a resource, and of the resources that contain it. */
  notify(uri: string): void
  /** Subscribes to all resources again, with another client. */
  renew(onError: (error: unknown) => void): void
  /** Forgets all resources and listeners, because they belong to another server. */
  clear(): void
}

/** Creates the subscriptions of a server. They use its current client. */
export function createSubscriptions(current: () => Client | undefined): OwnSubscriptions {
  const uris = new Set<string>()
  const listeners = new Map<string, Set<() => void>>()
  return {
    get isSupported() {
      return current()?.serverCapabilities?.resources?.subscribe === true
    },
    has: (uri) => uris.has(uri),
    async subscribe(uri) {
      await current()?.subscribe(uri)
      uris.add(uri)
    },
    async unsubscribe(uri) {
      uris.delete(uri)
      await current()?.unsubscribe(uri)
    },
    onUpdated(uri, listener) {
      const all = listeners.get(uri) ?? new Set()
      listeners.set(uri, all.add(listener))
      return () => void all.delete(listener)
    },
    renew(onError) {
      for (const uri of uris) {
        current()
          ?.subscribe(uri)
          .catch((error: unknown) => {
            uris.delete(uri)
            onError(error)
          })
      }
    },
    clear() {
      uris.clear()
      listeners.clear()
    },
    notify(updated) {
      for (const [uri, all] of listeners) {
        // The update may be of a part of the resource
        const isAffected = updated === uri || updated.startsWith(uri.replace(/\/?$/, '/'))
        if (isAffected) for (const listener of all) listener()
      }
    },
  }
}

/** Returns the name of a server, for people. */
export function nameOf({ serverInfo }: Client): string {
  return serverInfo ? titleOf(serverInfo) : 'the server'
}
