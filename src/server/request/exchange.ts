/**
 * One request on its way: what the transport found out about it, and how to reach the client while it
 * is answered. Made by a transport, read by everything else.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#statelessness
 */
import type { Cancellation } from '../../patterns/cancellation.ts'
import type { Ending } from '../../patterns/ending.ts'
import type { JsonObject, JsonRpcNotification } from '../../protocol/jsonrpc.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type { ClientCapabilities, Implementation, LoggingLevel } from '../../protocol/types.ts'
import type { ChangeSource } from '../notifier.ts'
import type { Session } from '../../session/session.ts'
import type { AskMode } from './ask-mode.ts'

/** Who the client is and what it offers: per session before 2026-07-28, per request since. */
export interface ClientFacts {
  readonly info: Implementation | undefined
  /** What the client declared; empty where that is {@link ClientFacts.unknown}. */
  readonly capabilities: ClientCapabilities
  /** Set in legacy requests over HTTP without a session, which do not describe the client. */
  readonly unknown?: true
}

/**
 * What authorization found out about the caller. A protected server fills in the named members,
 * from the access token; what else there is comes from a host that identifies callers itself.
 */
export interface Auth {
  /** Whom the token stands for (`sub`). */
  readonly subject?: string | undefined
  /** The client that the token was issued to. */
  readonly clientId?: string | undefined
  /** The authorization server that issued the token (`iss`). */
  readonly issuer?: string | undefined
  /** The scopes that were granted. */
  readonly scopes?: readonly string[] | undefined
  /** When the token expires, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined
  /** Whether the token is bound to a key, so that nobody else can use it (DPoP). */
  readonly bound?: boolean | undefined
  /** All that is known of the token; never the token itself. */
  readonly claims?: JsonObject | undefined
  readonly [other: string]: unknown
}

/** What a host knows of the caller beside the message. */
export interface Caller {
  /** The authenticated subject; sessions and input rounds are bound to it. */
  readonly principal?: string | undefined
  /** What authorization found out, for handlers. Survives JSON. */
  readonly auth?: Auth | undefined
  /**
   * The network address that the request came from, where the host knows it; limits of callers
   * without a principal count by it. Behind a proxy, give the client's: otherwise all share one.
   */
  readonly address?: string | undefined
  /**
   * Calls `onRevoked` once the authorization is revoked before `auth.expiresAt`, at which the
   * streams of the caller end. Returns a function that stops watching.
   */
  readonly revoked?: ((onRevoked: () => void) => () => void) | undefined
  /** The platform's environment, such as a Worker's bindings. */
  readonly env?: unknown
  /** The HTTP request, where there is one. */
  readonly request?: Request | undefined
  /** Keeps the host alive until the promise settles, where the platform needs to be told. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** A {@link Caller}, and the client as far as that is known. The context of a handler is one too. */
export interface Requester extends Caller {
  readonly client?: ClientFacts | undefined
}

/** Who calls, for the option `visible`. */
export interface Viewer extends Caller {
  /** The client and its capabilities; nothing is known of it where `unknown` is set. */
  readonly client: ClientFacts
}

/** The client of a legacy request over HTTP without a session. */
export const UNKNOWN_CLIENT: ClientFacts = { info: undefined, capabilities: {}, unknown: true }

/** The part of a tool that authorization needs. */
interface ScopedTool {
  readonly scopes?: readonly string[] | undefined
}

/** The part of a server that authorization needs. */
export interface ScopedServer {
  readonly tools: {
    /** The tool of that name, if the requester may use it. */
    find(name: string, requester: Requester): ScopedTool | undefined
    /** Every tool with its name. */
    entries(): Iterable<[string, ScopedTool]>
  }
}

/** Decides what a caller may ask. */
export interface Authorizer {
  /**
   * Checks that a caller may send a message, before the message is even validated.
   *
   * @param frame A message or a batch of them, as parsed.
   * @param scopes Scopes that are needed in addition to those of the message.
   * @throws {HttpError} 403, with a challenge that names the scopes that are missing.
   */
  authorize(frame: unknown, caller: Caller, server: ScopedServer, scopes?: readonly string[]): void
}

/** One request on its way. */
export interface Exchange {
  readonly revision: RevisionFacts
  readonly client: ClientFacts
  readonly caller: Caller
  /** Decides what the caller may do, where the server is protected. */
  readonly auth?: Authorizer | undefined
  /** Whether somebody still waits for the answer. */
  readonly cancellation: Cancellation
  /** Whether the host shuts down, so that open listeners should end gracefully. */
  readonly ending?: Ending | undefined
  /** Where listeners hear of changes; the server's own notifier when absent. */
  readonly changes?: ChangeSource | undefined
  /** The least severe log message that the client wants; none when absent. */
  readonly logLevel: LoggingLevel | undefined
  /** The session, in the revisions that have them. */
  readonly session?: Session | undefined
  /** The connection, which identifies the client where requests have no session: stdio, ports. */
  readonly peer?: object | undefined
  /** Sends a notification on the stream that will carry the response. */
  send(notification: JsonRpcNotification): void | Promise<void>
  /** Ends the connection, not the request; absent where the client could not come back for it. */
  readonly disconnect?: ((retryMs: number) => void) | undefined
  /** How the client can be asked for input. */
  readonly askMode: AskMode
}

/** Receives from hosts the clients that can be reached. Only gateways have one. */
export interface ClientRegistry {
  /** Notes a client that can be reached, by an exchange that lasts as long as its session. */
  add(client: Exchange): void
  /** Notes that the roots of a client have changed. */
  rootsChanged(client: Exchange): void
}
