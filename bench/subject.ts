/** What each SDK under `subjects/` provides to be measured over fetch. */

/** A fetch handler: a whole MCP endpoint. */
export type Handler = (request: Request) => Promise<Response>

/**
 * Which tools the endpoint has: `echo` alone, the two that answer with much (`large`) and often
 * (`progress`), or so many of those that search.
 */
export type ToolSet = 'echo' | 'streaming' | number

/** A handler for each way in which the SDK can serve. */
export interface HttpSubject {
  /** Keeps an `Mcp-Session-Id` session per client, or, for the floor, nothing. */
  session?: (tools: ToolSet) => Handler
  /** Keeps nothing between legacy requests. */
  stateless?: (tools: ToolSet) => Handler
  /** Serves revision 2026-07-28. */
  modern?: (tools: ToolSet) => Handler
}

/** The ways of {@link HttpSubject}. */
export type Way = keyof HttpSubject
