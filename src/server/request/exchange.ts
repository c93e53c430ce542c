/**
 * One request with its context: what the transport knows about the request, and how to reach the client
 * while the request is handled. Created by a transport and read by everything else.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#statelessness
 */
import type { Cancellation } from '../../patterns/cancellation.ts'
import type { ShutdownSignal } from '../../patterns/shutdown-signal.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  JsonObject,
  JsonRpcNotification,
} from '../../protocol/types.ts'
import type { ChangeSource } from '../notifier.ts'
import type { Session } from '../../session/session.ts'
import type { AskMode } from './ask-mode.ts'

/**
 * The client's identity and capabilities. Before 2026-07-28, clients declared them once per session.
 * Since then, they declare them in every request.
 */
export interface ClientFacts {
  readonly info: Implementation | undefined
  /** The declared capabilities; empty if {@link ClientFacts.unknown} is set. */
  readonly capabilities: ClientCapabilities
  /** Set for legacy HTTP requests without a session, which do not describe the client. */
  readonly unknown?: true
}

/**
 * Details about the caller's authorization. A protected server sets the members that are listed here,
 * from the access token. Programs that authenticate callers themselves may add other members.
 */
export interface Auth {
  /** The subject of the token (`sub`). */
  readonly subject?: string | undefined
  /** The client to which the token was issued. */
  readonly clientId?: string | undefined
  /** The authorization server that issued the token (`iss`). */
  readonly issuer?: string | undefined
  /** The granted scopes. */
  readonly scopes?: readonly string[] | undefined
  /** When the token expires, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined
  /** Whether the token is sender-constrained (DPoP). */
  readonly bound?: boolean | undefined
  /** All claims of the token, but never the token itself. */
  readonly claims?: JsonObject | undefined
  readonly [other: string]: unknown
}

/** What the program or platform that runs the server knows about the caller, apart from the message. */
export interface Caller {
  /** The authenticated principal; sessions and multi-round-trip requests are bound to it. */
  readonly principal?: string | undefined
  /** Details about the caller's authorization, for handlers. Must be serializable as JSON. */
  readonly auth?: Auth | undefined
  /**
   * The network address of the caller, if it is known; used to rate-limit callers without a principal.
   * Behind a proxy, pass the address of the client, not of the proxy: otherwise all callers share
   * one limit.
   */
  readonly address?: string | undefined
  /**
   * Adds a listener, which is called if the authorization is revoked before `auth.expiresAt`. The
   * server then ends the caller's streams. Returns a function that removes the listener.
   */
  readonly onRevoked?: ((listener: () => void) => () => void) | undefined
  /** The platform's environment, such as a Worker's bindings. */
  readonly env?: unknown
  /** The HTTP request, if there is one. */
  readonly request?: Request | undefined
  /** Whether messages travel over a pipe. Set by `serveStdio`. */
  readonly isPipe?: boolean | undefined
  /** Keeps the process alive until the promise settles, on platforms that require it. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** A {@link Caller} whose client may be known. A handler's context is a requester too. */
export interface Requester extends Caller {
  readonly client?: ClientFacts | undefined
}

/** A `Requester` whose `client` is always set, for the option `visible`. */
export interface Viewer extends Caller {
  /** The client and its capabilities; `unknown` is set if nothing is known about the client. */
  readonly client: ClientFacts
}

/** The client of a legacy HTTP request without a session. */
export const UNKNOWN_CLIENT: ClientFacts = { info: undefined, capabilities: {}, unknown: true }

/** The part of a tool that authorization needs. */
interface ScopedTool {
  readonly scopes?: readonly string[] | undefined
}

/** The part of a server that authorization needs. */
export interface ScopedServer {
  readonly tools: {
    /**
     * Finds the tool with that name, if the requester may use it.
     *
     * @param client The client that the option `visible` receives, in place of `requester.client`.
     */
    find(name: string, requester: Requester, client?: ClientFacts): ScopedTool | undefined
    /** Every tool with its name. */
    entries(): Iterable<[string, ScopedTool]>
  }
  readonly extensions?: {
    /** The scopes that a request needs in addition to the server's scopes. */
    scopesFor(method: string, params: JsonObject): readonly string[]
  }
}

/** Decides what a caller may do. */
export interface Authorizer {
  /**
   * Checks that a caller may send a message, before the message is validated.
   *
   * @param frame The parsed message, or a batch of messages.
   * @param scopes Required scopes in addition to the scopes of the message.
   * @throws {HttpError} 403, with a challenge that names the missing scopes.
   */
  authorize(frame: unknown, caller: Caller, server: ScopedServer, scopes?: readonly string[]): void
}

/** One request with its context. */
export interface Exchange {
  readonly revision: RevisionFacts
  readonly client: ClientFacts
  readonly caller: Caller
  /** Decides what the caller may do, if the server is protected. */
  readonly authorizer?: Authorizer | undefined
  /** Cancels the request, and says whether it was cancelled. */
  readonly cancellation: Cancellation
  /** Signals that the server is shutting down, so that open listeners end gracefully. */
  readonly shutdown?: ShutdownSignal | undefined
  /** The source of changes for listeners. By default the server's own notifier. */
  readonly changes?: ChangeSource | undefined
  /** The minimum severity of the log messages that the client wants. If absent, no log message is sent. */
  readonly logLevel: LoggingLevel | undefined
  /** The session. Absent for requests outside of a session. */
  readonly session?: Session | undefined
  /**
   * The connection, if it has a single client (stdio, message ports). It identifies the client of
   * requests without a session.
   */
  readonly peer?: object | undefined
  /** `false` if notifications cannot precede the response. `send` then drops notifications. */
  readonly canStream?: boolean
  /**
   * Sends a notification on the stream that will carry the response. If it returns a promise, the
   * promise resolves when the notification was sent. If sending fails, it resolves with the error.
   */
  send(notification: JsonRpcNotification): void | Promise<unknown>
  /** Closes the connection without ending the request. Absent if the client could not resume the stream. */
  readonly disconnect?: ((retryMs: number) => void) | undefined
  /** How the client can be asked for input. */
  readonly askMode: AskMode
}

/** Tracks the clients to which the server can send requests. Only gateways use it. */
export interface ClientRegistry {
  /**
   * Adds a client.
   *
   * @param exchange A long-lived exchange with the client. It belongs to no request, and can be used until
   *   the session ends.
   */
  add(exchange: Exchange): void
  /** Records that the roots of the exchange's client have changed. */
  rootsChanged(exchange: Exchange): void
}
