/**
 * The entrypoint through which other Workers call the server, by RPC over a service binding. It
 * handles no HTTP, so that nothing from outside reaches it.
 *
 * @see https://developers.cloudflare.com/workers/runtime-apis/bindings/service-bindings/rpc/
 */
import { RpcStub, WorkerEntrypoint } from 'cloudflare:workers'
import { isObject, type ServerConnectionOptions, type ServerDefinition } from '#internal/connection'
import type { Caller } from '../../src/presets/server.ts'
import { RpcConnection, type RpcLimits } from './rpc-connection.ts'
import type { RpcReceiver } from './rpc-messages.ts'

/** The properties of a service binding, as its configuration sets them. */
export type BindingProps = Readonly<Record<string, unknown>>

/**
 * How other Workers may call the server. Messages may be as long as the option `maxBodyBytes`
 * allows.
 */
export interface EntrypointOptions {
  /**
   * Identifies the calling Worker by the `props` of its service binding, which only the configuration of
   * that Worker can set. Handlers see the returned caller as `ctx.principal` and `ctx.auth`. If this function
   * returns `undefined` or throws, the connection is rejected. An exception is passed to `onError`. The
   * connection closes at `auth.expiresAt`, and when the authorization is revoked.
   *
   * By default the principal is `props.principal`, if that is a string, and `auth` is `props.auth`, if
   * that is an object.
   */
  caller?: (
    props: BindingProps,
    env: Cloudflare.Env,
  ) => Caller | undefined | Promise<Caller | undefined>
  /**
   * The maximum number of calls that are open at a time on one connection. Further calls are rejected.
   *
   * @default 1000
   */
  maxOpenCalls?: number
}

/** The entrypoint of a server. Workers call it with `bindingTransport`. */
export interface Entrypoint extends WorkerEntrypoint {
  /**
   * Opens a connection. Resolves with `null` if the caller is rejected.
   *
   * @param receiver Receives the server's notifications and requests.
   */
  openConnection(receiver: Rpc.Stub<RpcReceiver>): Promise<RpcConnection | null>
}

/** The class of an entrypoint. The Worker exports it under a name of your choice. */
export type EntrypointClass = new (ctx: ExecutionContext, env: Cloudflare.Env) => Entrypoint

/** The settings of an entrypoint. */
interface EntrypointSettings extends RpcLimits {
  readonly caller: EntrypointOptions['caller']
  readonly connection: Omit<ServerConnectionOptions, 'caller'>
  /** Called when a connection is opened. */
  readonly onOpen: () => void
}

/** Creates the class of the entrypoint of a server. */
export function entrypointClass(
  server: ServerDefinition,
  { caller: identify = callerOf, onOpen, connection, ...limits }: EntrypointSettings,
): EntrypointClass {
  return class extends WorkerEntrypoint implements Entrypoint {
    async openConnection(receiver: Rpc.Stub<RpcReceiver>): Promise<RpcConnection | null> {
      if (!((receiver as unknown) instanceof RpcStub)) {
        throw new TypeError('Open a connection with bindingTransport of edgewise/cloudflare')
      }
      onOpen()
      const { ctx, env } = this
      // A copy, because the stub in the parameter is released when this method returns
      const ownReceiver = receiver.dup()
      const identity = await this.#identify()
      if (!identity) {
        ownReceiver[Symbol.dispose]()
        return null
      }
      let onClosed = (): void => {}
      // Keeps this context alive until the connection is closed. Otherwise the context would end together with
      // the calling Worker, before anything could be cleaned up
      ctx.waitUntil(new Promise<void>((resolve) => (onClosed = resolve)))
      const waitUntil = (work: Promise<unknown>): void => ctx.waitUntil(work)
      const caller: Caller = { env, waitUntil, ...identity }
      return new RpcConnection(server, ownReceiver, { ...connection, ...limits, caller, onClosed })
    }

    async #identify(): Promise<Caller | undefined> {
      try {
        return await identify(this.ctx.props ?? {}, this.env)
      } catch (error) {
        server.report(error)
        return undefined
      }
    }
  }
}

/** Returns the caller that the properties of a binding identify. */
function callerOf({ principal, auth }: BindingProps): Caller {
  return {
    principal: typeof principal === 'string' ? principal : undefined,
    auth: isObject(auth) ? auth : undefined,
  }
}
