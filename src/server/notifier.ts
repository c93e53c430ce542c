/**
 * Tells whoever listens that a list or a resource changed. Knows nothing of connections: hosts
 * subscribe, and carry each change to their sessions and listeners.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { callHook } from '../patterns/hooks.ts'
import type { SubscriptionFilter } from '../protocol/types.ts'

type List = 'tools' | 'prompts' | 'resources'

/** Something that changed on the server. */
export type ServerChange =
  | { readonly method: `notifications/${List}/list_changed` }
  | { readonly method: 'notifications/resources/updated'; readonly uri: string }
  | { readonly method: 'notifications/elicitation/complete'; readonly elicitationId: string }

/** What a subscriber tells of itself to a source that is far away. */
export interface SubscribeOptions {
  /** What it wants to hear of; a source may tell it of more. All by default. */
  filter?: SubscriptionFilter
  /** Called once when the source stops telling of changes. */
  onEnd?: () => void
  /** Who listens, where that is known. */
  caller?: { readonly principal?: string | undefined; readonly request?: Request | undefined }
}

/** Where hosts hear of changes. */
export interface ChangeSource {
  /** Calls `listener` at every change until the function that it returns is called. */
  subscribe: (
    listener: (change: ServerChange) => void,
    options?: SubscribeOptions,
  ) => Unsubscribe | Promise<Unsubscribe>
}

/** Stops a subscription. */
export type Unsubscribe = () => void

/** Announces changes, and lets hosts hear of them. */
export interface Notifier extends ChangeSource {
  /**
   * Calls `listener` at every change until the function that it returns is called. What it throws
   * is passed to `onError`.
   */
  subscribe: (listener: (change: ServerChange) => void) => Unsubscribe
  /**
   * Runs a function that changes lists, such as one that registers many tools, and then announces
   * each changed list once.
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
   * Announces that the user did what a URL asked for, to the client that was asked (2025-11-25).
   *
   * @param elicitationId As the answer of `ctx.elicitUrl` or the error gave it.
   */
  elicitationComplete: (elicitationId: string) => void
}

/**
 * Makes a notifier that reaches the listeners of this isolate.
 *
 * @param report Receives what listeners throw.
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
  const changed = (list: List) => (): void => {
    if (batched) batched.add(list)
    else announceList(list)
  }
  return {
    batch(change) {
      if (batched) return change()
      const lists = (batched = new Set())
      try {
        change()
      } finally {
        batched = undefined
        lists.forEach(announceList)
      }
    },
    toolsListChanged: changed('tools'),
    promptsListChanged: changed('prompts'),
    resourcesListChanged: changed('resources'),
    resourceUpdated: (uri) => announce({ method: 'notifications/resources/updated', uri }),
    elicitationComplete: (elicitationId) =>
      announce({ method: 'notifications/elicitation/complete', elicitationId }),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
