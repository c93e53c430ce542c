/**
 * The records of a session: what happened, in the order in which it happened. The timeline is computed from them,
 * and an exported session consists of them.
 */
import type { LoggingLevel } from 'edgewise/browser'

/** The headers of a request or a response. Values that may be secret are masked. */
export interface HeaderValues {
  readonly [name: string]: string
}

/** A body: the value if it is JSON, and otherwise the text. Both are absent if it is empty. */
export interface Body {
  readonly json?: unknown
  readonly text?: string
  /** The length of the text, in characters. */
  readonly length?: number
}

/** What all records have. */
interface Base {
  /** When it happened, in milliseconds since 1970. */
  readonly at: number
}

/** A record of an HTTP exchange. */
interface HttpBase extends Base {
  /** The number of the HTTP exchange, in the order of the requests. */
  readonly http: number
}

/** An HTTP request. */
export interface RequestRecord extends HttpBase, Body {
  readonly type: 'request'
  /** The number of the client that sent it. Each client numbers its JSON-RPC requests on its own. */
  readonly client: number
  /** The number of the check that sent it, if one did. */
  readonly check?: number
  readonly method: string
  readonly url: string
  readonly headers: HeaderValues
}

/** The status and the headers of an HTTP response. */
export interface ResponseRecord extends HttpBase {
  readonly type: 'response'
  readonly status: number
  readonly statusText: string
  readonly headers: HeaderValues
  /** Whether the server is of another origin, so that the page can only read the headers that it exposes. */
  readonly isCrossOrigin?: boolean
}

/** The body of an HTTP response, or one event of its stream. */
export interface MessageRecord extends HttpBase, Body {
  readonly type: 'message'
  /** The type of the event, if it has one. */
  readonly event?: string
  /** The id of the event, if it has one. */
  readonly eventId?: string
}

/** The end of an HTTP exchange. */
export interface EndRecord extends HttpBase {
  readonly type: 'end'
  /** Why it failed. */
  readonly error?: string
  /** Whether the page aborted it. The error is then the timeout for which it did. */
  readonly aborted?: boolean
}

/** A message of the page. */
export interface NoticeRecord extends Base {
  readonly type: 'notice'
  readonly level: LoggingLevel
  readonly text: string
  /** The tool whose last call it is about, if it is about one. */
  readonly tool?: string | undefined
}

/** A change of the connection, or the beginning or the end of a check. */
export interface MarkRecord extends Base {
  readonly type: 'mark'
  readonly text: string
  /** The number of the check. */
  readonly check?: number
  /** How the check ended. */
  readonly outcome?: string
  /** Whether the check found errors, or the connection failed. */
  readonly failed?: boolean
}

/** A step of signing in. A later record with the same id replaces it. */
export interface StepRecord extends Base {
  readonly type: 'step'
  readonly id: number
  readonly title: string
  readonly url: string
  readonly state: StepState
  readonly status?: number | undefined
  /** What the response said, without secrets. */
  readonly said?: unknown
  readonly summary?: string | undefined
}

/** The states of a step of signing in. `absent` means that a document does not exist, which is allowed. */
export const STEP_STATES = ['running', 'done', 'failed', 'absent'] as const
/** The state of a step of signing in. */
export type StepState = (typeof STEP_STATES)[number]

/** A request that failed on this side: a question that was not answered, or a call that may have asked some. */
export interface UnansweredRecord extends Base {
  readonly type: 'unanswered'
  readonly method: string
  readonly params: unknown
  /** Why it failed: the code of an `SdkError`. */
  readonly code: string
}

/** Something that happened. */
export type SessionRecord =
  | RequestRecord
  | ResponseRecord
  | MessageRecord
  | EndRecord
  | NoticeRecord
  | MarkRecord
  | StepRecord
  | UnansweredRecord

/** The present time, in milliseconds since 1970, with fractions. It never goes back. */
export const now = (): number => performance.timeOrigin + performance.now()
