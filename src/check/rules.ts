/**
 * The rules that `edgewise check` tests.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */

/**
 * How serious a finding is: `error` if the server violates the specification, `warning` if users will have problems,
 * and `note` if the server could be improved.
 */
export type Severity = 'error' | 'warning' | 'note'

/** What a rule requires, and where this is specified. */
export interface Rule {
  readonly severity: Severity
  /** What the server must do, as a sentence. */
  readonly requirement: string
  /** The section of the specification, or the documentation. */
  readonly url: string
}

/** The specifications of the latest revision with sessions, and of the revision without sessions. */
const legacySpec = 'https://modelcontextprotocol.io/specification/2025-11-25'
const modernSpec = 'https://modelcontextprotocol.io/specification/2026-07-28'

/** The id of a rule. */
export type RuleId =
  | 'not-mcp'
  | 'http-sse'
  | 'version-negotiation'
  | 'initialize-result'
  | 'session-id'
  | 'session-lost'
  | 'ended-session'
  | 'no-response'
  | 'notification'
  | 'get-stream'
  | 'parse-error'
  | 'malformed-body'
  | 'unknown-method'
  | 'unknown-tool'
  | 'ping'
  | 'invalid-version-header'
  | 'method-header'
  | 'supported-version'
  | 'unsupported-version'
  | 'origin-check'
  | 'cors-preflight'
  | 'cors-headers'
  | 'cors-methods'
  | 'cors-origin'
  | 'cors-expose'
  | 'token-required'
  | 'challenge'
  | 'resource-metadata'
  | 'authorization-server'
  | 'pkce'
  | 'list-fails'
  | 'list-slow'
  | 'list-size'
  | 'duplicate-name'
  | 'tool-name'
  | 'tool-schema'
  | 'invalid-schema'
  | 'required-property'
  | 'model-schema'
  | 'tool-description'
  | 'parameter-description'
  | 'tool-annotations'

/** The rules, by their ids. */
export const rules: Readonly<Record<RuleId, Rule>> = {
  'not-mcp': {
    severity: 'error',
    requirement: 'The endpoint answers "server/discover" or "initialize" with a JSON-RPC response.',
    url: `${legacySpec}/basic/transports#streamable-http`,
  },
  'http-sse': {
    severity: 'warning',
    requirement:
      'The endpoint uses Streamable HTTP, which replaced the transport HTTP+SSE in 2025-03-26. Not all clients support HTTP+SSE.',
    url: `${legacySpec}/basic/transports#backwards-compatibility`,
  },
  'version-negotiation': {
    severity: 'error',
    requirement:
      'A server that does not support the requested protocol version answers "initialize" with the latest one that it supports.',
    url: `${legacySpec}/basic/lifecycle#version-negotiation`,
  },
  'initialize-result': {
    severity: 'error',
    requirement:
      'The result of "initialize" has "protocolVersion", "capabilities", and "serverInfo" with a name and a version.',
    url: `${legacySpec}/basic/lifecycle#initialization`,
  },
  'session-id': {
    severity: 'error',
    requirement:
      'A server with sessions sends an "Mcp-Session-Id" of visible ASCII characters with the result of "initialize".',
    url: `${legacySpec}/basic/transports#session-management`,
  },
  'session-lost': {
    severity: 'error',
    requirement:
      'A session lasts until the client ends it, or does not use it for a long time. If several processes serve the endpoint, each one knows the session, or a load balancer sends all requests of the session to the same process.',
    url: `${legacySpec}/basic/transports#session-management`,
  },
  'ended-session': {
    severity: 'error',
    requirement: 'Requests of a session that has ended are answered with 404.',
    url: `${legacySpec}/basic/transports#session-management`,
  },
  'no-response': {
    severity: 'error',
    requirement: 'The server answers each request with a response.',
    url: `${legacySpec}/basic#responses`,
  },
  notification: {
    severity: 'error',
    requirement: 'A notification is answered with 202, and without a body.',
    url: `${legacySpec}/basic/transports#sending-messages-to-the-server`,
  },
  'get-stream': {
    severity: 'error',
    requirement:
      'A GET request is answered with an event stream, or with 405 if the server offers none.',
    url: `${legacySpec}/basic/transports#listening-for-messages-from-the-server`,
  },
  'parse-error': {
    severity: 'warning',
    requirement: 'A body that is not JSON is answered with 400, and the error -32700.',
    url: 'https://www.jsonrpc.org/specification#error_object',
  },
  'malformed-body': {
    severity: 'error',
    requirement:
      'A body that is not JSON neither ends the server nor closes the connection: otherwise any client can stop the server for all others.',
    url: 'https://www.jsonrpc.org/specification#error_object',
  },
  'unknown-method': {
    severity: 'error',
    requirement:
      'A request with an unknown method is answered with the error -32601; in 2026-07-28, with the status 404.',
    url: 'https://www.jsonrpc.org/specification#error_object',
  },
  'unknown-tool': {
    severity: 'warning',
    requirement:
      'A call of a tool that does not exist is answered with the JSON-RPC error -32602 (invalid params). A result with "isError" reports that an existing tool failed; since 2025-11-25, also that its arguments are invalid.',
    url: `${legacySpec}/server/tools#error-handling`,
  },
  ping: {
    severity: 'error',
    requirement:
      'In revisions with sessions, "ping" is answered with an empty result. Clients and gateways send it to find out whether the connection is alive.',
    url: `${legacySpec}/basic/utilities/ping#behavior-requirements`,
  },
  'invalid-version-header': {
    severity: 'error',
    requirement: 'A request with an invalid "MCP-Protocol-Version" is answered with 400.',
    url: `${legacySpec}/basic/transports#protocol-version-header`,
  },
  'method-header': {
    severity: 'error',
    requirement:
      'A request whose "Mcp-Method" contradicts its body is answered with 400, and the error -32020.',
    url: `${modernSpec}/basic/transports/streamable-http#server-validation`,
  },
  'supported-version': {
    severity: 'error',
    requirement:
      'The server supports every version that it lists in "server/discover" or returns from "initialize".',
    url: `${modernSpec}/basic/versioning`,
  },
  'unsupported-version': {
    severity: 'error',
    requirement:
      'A request of an unknown protocol version is answered with 400, and the error -32022.',
    url: `${modernSpec}/basic/versioning#protocol-version-negotiation`,
  },
  'origin-check': {
    severity: 'error',
    requirement:
      'A server on the local machine answers requests with a foreign "Origin" with 403. The specification requires this against DNS rebinding, even if the server also checks "Host".',
    url: `${legacySpec}/basic/transports#security-warning`,
  },
  'cors-preflight': {
    severity: 'note',
    requirement:
      'A server that Web pages may use answers preflight requests, and allows their origin.',
    url: 'https://fetch.spec.whatwg.org/#cors-preflight-request',
  },
  'cors-headers': {
    severity: 'warning',
    requirement:
      'A server that Web pages may use lists the headers of MCP in "Access-Control-Allow-Headers": browsers block requests with other headers.',
    url: 'https://fetch.spec.whatwg.org/#http-access-control-allow-headers',
  },
  'cors-methods': {
    severity: 'error',
    requirement:
      'A server that Web pages may use lists the methods of its endpoint in "Access-Control-Allow-Methods": browsers block methods other than GET and POST.',
    url: 'https://fetch.spec.whatwg.org/#http-access-control-allow-methods',
  },
  'cors-origin': {
    severity: 'error',
    requirement:
      'A server that Web pages may use sends "Access-Control-Allow-Origin" with each response, including errors: browsers block responses without it.',
    url: 'https://fetch.spec.whatwg.org/#http-access-control-allow-origin',
  },
  'cors-expose': {
    severity: 'warning',
    requirement:
      'A server that Web pages may use lists "Mcp-Session-Id" and "WWW-Authenticate" in "Access-Control-Expose-Headers".',
    url: 'https://fetch.spec.whatwg.org/#http-access-control-expose-headers',
  },
  'token-required': {
    severity: 'note',
    requirement:
      'The check has a token that the server accepts. Without it, only the metadata for sign-in and CORS are checked.',
    url: `${legacySpec}/basic/authorization#access-token-usage`,
  },
  challenge: {
    severity: 'error',
    requirement: 'A response with the status 401 has a "WWW-Authenticate" header.',
    url: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.2',
  },
  'resource-metadata': {
    severity: 'error',
    requirement:
      'A protected server has protected resource metadata, which names its URL and at least one authorization server.',
    url: `${legacySpec}/basic/authorization#authorization-server-location`,
  },
  'authorization-server': {
    severity: 'error',
    requirement: 'An authorization server has metadata whose "issuer" is its URL.',
    url: `${legacySpec}/basic/authorization#authorization-server-metadata-discovery`,
  },
  pkce: {
    severity: 'error',
    requirement:
      'The metadata of an authorization server lists "S256" in "code_challenge_methods_supported"; otherwise clients must refuse the server.',
    url: `${legacySpec}/basic/authorization#authorization-code-protection`,
  },
  'list-fails': {
    severity: 'error',
    requirement:
      'For each declared capability that has lists, such as "tools", the list requests succeed, and each entry has a name or a URI.',
    url: `${legacySpec}/basic/lifecycle#capability-negotiation`,
  },
  'list-slow': {
    severity: 'warning',
    requirement: 'A list takes less than 2 seconds: hosts read it before the user can begin.',
    url: `${legacySpec}/server/utilities/pagination`,
  },
  'list-size': {
    severity: 'warning',
    requirement:
      'The tools fit into the context of a model: at most 100 tools, and 100,000 characters of definitions.',
    url: `${legacySpec}/server/tools#listing-tools`,
  },
  'duplicate-name': {
    severity: 'error',
    requirement: 'A name or URI is unique in its list.',
    url: `${legacySpec}/server/tools#tool-names`,
  },
  'tool-name': {
    severity: 'warning',
    requirement:
      'The name of a tool has at most 64 letters, digits, "_" and "-", because model APIs refuse other names.',
    url: `${legacySpec}/server/tools#tool-names`,
  },
  'tool-schema': {
    severity: 'error',
    requirement: 'The input schema of a tool is an object whose "type" is "object".',
    url: `${legacySpec}/server/tools#tool`,
  },
  'invalid-schema': {
    severity: 'error',
    requirement:
      'The input and output schemas of a tool are valid in their dialect of JSON Schema, which is 2020-12 unless "$schema" names another, and each "$ref" to a part of the schema has a target. Hosts and model APIs refuse tools with other schemas.',
    url: `${legacySpec}/basic#json-schema-usage`,
  },
  'required-property': {
    severity: 'warning',
    requirement:
      'Each member of "required" is one of "properties": models cannot supply an argument that the schema does not describe.',
    url: 'https://json-schema.org/draft/2020-12/json-schema-validation#section-6.5.3',
  },
  'model-schema': {
    severity: 'warning',
    requirement:
      'The input schema of a tool has no "oneOf", "anyOf", "allOf" or "not" at its root, and each "$ref" points inside the schema, because model APIs refuse other schemas.',
    url: `${legacySpec}/server/tools#tool`,
  },
  'tool-description': {
    severity: 'warning',
    requirement: 'A tool has a description, by which models choose it.',
    url: `${legacySpec}/server/tools#tool`,
  },
  'parameter-description': {
    severity: 'note',
    requirement: 'Each parameter of a tool has a description.',
    url: `${legacySpec}/server/tools#tool`,
  },
  'tool-annotations': {
    severity: 'note',
    requirement:
      'A tool has "readOnlyHint" or "destructiveHint" in its annotations, by which hosts decide whether to ask the user.',
    url: `${legacySpec}/schema#toolannotations`,
  },
}
