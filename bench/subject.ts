/** What each SDK under `subjects/` provides so that it can be measured over fetch. */

/** A fetch handler: a whole MCP endpoint. */
export type Handler = (request: Request) => Promise<Response>

/**
 * The tools of the endpoint: `echo` alone, the two with large (`large`) and streamed (`progress`)
 * results, or a number of search tools.
 */
export type ToolSet = 'echo' | 'streaming' | number

/** A handler for each way in which the SDK can serve. */
export interface HttpSubject {
  /** Sends an `Mcp-Session-Id` to each client, and keeps a session for it, except for the floor. */
  session?: (tools: ToolSet) => Handler
  /** Keeps no state between legacy requests. */
  stateless?: (tools: ToolSet) => Handler
  /** Serves revision 2026-07-28. */
  modern?: (tools: ToolSet) => Handler
}

/** The ways of serving in {@link HttpSubject}. */
export type Way = keyof HttpSubject
