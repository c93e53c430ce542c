/**
 * A hook for React: the state of a client from `createReconnectingClient` in `edgewise/browser`.
 *
 * @module
 * @see https://react.dev/reference/react/useSyncExternalStore
 */
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { ConnectionState, ReconnectingOptions, ReconnectingTarget } from '#internal/client'
import { createReconnectingClient, type ReconnectingClient } from '../browser/index.ts'

/** The state of a connection, and the client that can reopen the connection after a failure, as `connection`. */
export type McpState = ConnectionState & { readonly connection: ReconnectingClient }

/** The state during server rendering, and until hydration. */
const IDLE: ConnectionState = { status: 'idle' }

/**
 * Connects to a server while a component is mounted, and renders the component again when the state
 * of the connection changes.
 *
 * @example
 * ```ts
 * import { useMcp } from 'edgewise/react'
 *
 * export function useGreeting(): () => Promise<unknown> {
 *   const mcp = useMcp('https://example.com/mcp')
 *   return async () => {
 *     if (mcp.status !== 'ready') throw new Error(`Cannot greet now: ${mcp.status}`)
 *     return mcp.client.callTool('greet')
 *   }
 * }
 * ```
 *
 * @param target A URL, a function that creates a transport, or a shared client from
 *   `createReconnectingClient`. For a URL or a function, the hook creates a client, and closes it when the
 *   component unmounts. The function must be the same in each render. A shared client stays open.
 * @param options Options of the client that the hook creates. For each target, the options of the first render
 *   apply.
 * @see https://react.dev/reference/react/useSyncExternalStore
 */
export function useMcp(
  target: ReconnectingClient | ReconnectingTarget,
  options?: ReconnectingOptions,
): McpState {
  // A `URL` is often a new object in every render
  const key = target instanceof URL ? target.href : target
  // Options are not a dependency, because they too are often a new object in every render
  const reconnectingClient = useMemo(
    () => (isReconnectingClient(key) ? key : createReconnectingClient(key, options)),
    [key],
  )
  const isShared = reconnectingClient === key
  useEffect(() => {
    reconnectingClient.open()
    return isShared ? undefined : () => void reconnectingClient.close()
  }, [reconnectingClient, isShared])
  const state = useSyncExternalStore(
    reconnectingClient.subscribe,
    reconnectingClient.getSnapshot,
    () => IDLE,
  )
  return useMemo(() => ({ ...state, connection: reconnectingClient }), [state, reconnectingClient])
}

function isReconnectingClient(
  target: ReconnectingClient | ReconnectingTarget,
): target is ReconnectingClient {
  return typeof target === 'object' && 'getSnapshot' in target
}
