/**
 * A hook for React: the state of a client of `createReconnectingClient` of `edgewise/browser`.
 *
 * @module
 * @see https://react.dev/reference/react/useSyncExternalStore
 */
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { ConnectionState, ReconnectingOptions, ReconnectingTarget } from '#internal/client'
import { createReconnectingClient, type ReconnectingClient } from '../browser/index.ts'

/** The state of a connection, and the connection itself, to open it again after a failure. */
export type McpState = ConnectionState & { readonly connection: ReconnectingClient }

/** What servers render, and pages until they have taken over. */
const IDLE: ConnectionState = { status: 'idle' }

/**
 * Connects while a component is mounted, and renders it anew when the state changes.
 *
 * @param target A URL or what makes a transport, for a connection of the component's own that is
 *   closed with it; or a connection that others share, which stays open. A function must be the same
 *   from render to render.
 * @param options Options of a connection of one's own; those of the first render with a target count.
 */
export function useMcp(
  target: ReconnectingClient | ReconnectingTarget,
  options?: ReconnectingOptions,
): McpState {
  const key = target instanceof URL ? target.href : target
  // The options are often written in place, so that they are new in every render
  const connection = useMemo(
    () => (isConnection(key) ? key : createReconnectingClient(key, options)),
    [key],
  )
  const isShared = connection === key
  useEffect(() => {
    connection.open()
    return isShared ? undefined : () => void connection.close()
  }, [connection, isShared])
  const state = useSyncExternalStore(connection.subscribe, connection.getSnapshot, () => IDLE)
  return useMemo(() => ({ ...state, connection }), [state, connection])
}

function isConnection(
  target: ReconnectingClient | ReconnectingTarget,
): target is ReconnectingClient {
  return typeof target === 'object' && 'getSnapshot' in target
}
