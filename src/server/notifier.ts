/**
 * Notifies subscribers that a list or a resource changed. Notifiers are independent of connections:
 * hosts subscribe, and pass each change on to their sessions and listeners.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { callHook } from '../patterns/hooks.ts'
import type { SubscriptionFilter } from '../protocol/types.ts'

type List = 'tools' | 'prompts' | 'resources'

/** A change on the server. */
export type ServerChange =
  | { readonly method: `notifications/${List}/list_changed` }
  | { readonly method: 'notifications/resources/updated'; readonly uri: string }
  | { readonly method: 'notifications/elicitation/complete'; readonly elicitationId: string }

/** Details about a subscriber, for a remote source of changes. */
export interface SubscribeOptions {
  /** The requested changes; a source may deliver others too. By default all changes. */
  filter?: SubscriptionFilter
  /** Called once when the source stops delivering changes. */
  onEnd?: () => void
  /** The subscribed caller, if known. */
  caller?: { readonly principal?: string | undefined; readonly request?: Request | undefined }
}

/** A source of changes, to which the code that serves clients subscribes. */
export interface ChangeSource {
  /** Calls `listener` for every change until the returned function is called. */
  subscribe: (
    listener: (change: ServerChange) => void,
    options?: SubscribeOptions,
  ) => Unsubscribe | Promise<Unsubscribe>
}

/** Ends a subscription. */
export type Unsubscribe = () => void

/**
 * Announces changes, and notifies subscribed hosts.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
export interface Notifier extends ChangeSource {
  /**
   * Calls `listener` for every change until the returned function is called. Exceptions of the
   * listener are passed to `onError`.
   */
  subscribe: (listener: (change: ServerChange) => void) => Unsubscribe
  /**
   * Runs a function that changes lists, for example a function that registers many tools, and then
   * announces each changed list once.
   */
  batch: (change: () => void) => void
  /** Announces that the list of tools changed. */
  toolsListChanged: () => void
  /** Announces that the list of prompts changed. */
  promptsListChanged: () => void
  /** Announces that the list of resources or templates changed. */
  resourcesListChanged: () => void
  /** Announces that a resource's contents changed. */
  resourceUpdated: (uri: string) => void
  /**
   * Announces to the client that the user completed a URL elicitation (2025-11-25).
   *
   * @param elicitationId The id from the result of `ctx.elicitUrl`, or from the error.
   */
  elicitationComplete: (elicitationId: string) => void
}

/**
 * Creates a notifier for the subscribers of this isolate.
 *
 * @param report Receives exceptions of listeners.
 */
export function createNotifier(report: (error: unknown) => void): Notifier {
  const listeners = new Set<(change: ServerChange) => void>()
  const announce = (change: ServerChange): void => {
    for (const listener of listeners) callHook(() => listener(change), report)
  }
  /** The lists that changed during a batch. */
  let batched: Set<List> | undefined
  const announceList = (list: List): void => {
    announce({ method: `notifications/${list}/list_changed` })
  }
  const listChanged = (list: List) => (): void => {
    if (batched) batched.add(list)
    else announceList(list)
  }
  return {
    batch(change) {
      if (batched) return change()
      const lists = new Set<List>()
      batched = lists
      try {
        change()
      } finally {
        batched = undefined
        lists.forEach(announceList)
      }
    },
    toolsListChanged: listChanged('tools'),
    promptsListChanged: listChanged('prompts'),
    resourcesListChanged: listChanged('resources'),
    resourceUpdated: (uri) => announce({ method: 'notifications/resources/updated', uri }),
    elicitationComplete: (elicitationId) =>
      announce({ method: 'notifications/elicitation/complete', elicitationId }),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
