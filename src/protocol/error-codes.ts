/**
 * The codes of JSON-RPC errors. The package exports them together, as `ErrorCode`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 */

/** The text was not JSON. */
export const PARSE_ERROR = -32700
/** The JSON was not a JSON-RPC message that is allowed here. */
export const INVALID_REQUEST = -32600
/** The method does not exist, or its capability was not advertised. */
export const METHOD_NOT_FOUND = -32601
/** The params have the wrong shape, or name something that does not exist. */
export const INVALID_PARAMS = -32602
/** An unexpected failure; its details stay on the server. */
export const INTERNAL_ERROR = -32603
/** The resource does not exist; legacy revisions only, 2026-07-28 uses {@link INVALID_PARAMS}. */
export const RESOURCE_NOT_FOUND = -32002
/** A URL-mode elicitation must be completed first; 2025-11-25 only. */
export const URL_ELICITATION_REQUIRED = -32042
/** A required header is missing, malformed, or contradicts the body; 2026-07-28. */
export const HEADER_MISMATCH = -32020
/** The request did not declare a client capability that it requires; 2026-07-28. */
export const MISSING_REQUIRED_CLIENT_CAPABILITY = -32021
/** The protocol version is unknown or disabled; 2026-07-28. */
export const UNSUPPORTED_PROTOCOL_VERSION = -32022
