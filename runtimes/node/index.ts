/**
 * Edgewise on Node: servers over stdio and HTTP, and a client for servers that it starts.
 *
 * @module
 */
export { stdioClient, type StdioClientOptions } from './stdio-client.ts'
