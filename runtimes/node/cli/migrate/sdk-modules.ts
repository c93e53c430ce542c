/**
 * Type declarations for the SDK modules that a migration replaces. They contain only what the migration must
 * recognize. With them, a project can be migrated even if its packages are not installed, and regardless of their
 * versions.
 */

/** The SDKs: both versions of the official SDK, and `McpAgent` of Cloudflare's package `agents`. */
export type SdkName = 'v1' | 'v2' | 'agents'

/**
 * The declarations that both versions of the official SDK share.
 *
 * @param contextType The name of the type of the context that handlers receive.
 */
const shared = (contextType: string): string => `
export declare class Server {
  constructor(info: any, options?: any)
  notification(notification: any, options?: any): Promise<void>
  request(request: any, schema?: any, options?: any): Promise<any>
  createMessage(params: any, options?: any): Promise<any>
  elicitInput(params: any, options?: any): Promise<any>
  listRoots(params?: any, options?: any): Promise<any>
  sendLoggingMessage(params: any, sessionId?: string): Promise<void>
  sendResourceUpdated(params: any): Promise<void>
  sendResourceListChanged(): Promise<void>
  sendToolListChanged(): Promise<void>
  sendPromptListChanged(): Promise<void>
  getClientCapabilities(): any
  getClientVersion(): any
  setRequestHandler(schema: any, handler: (request: any, context: ${contextType}) => any): void
  [member: string]: any
}
export declare class McpServer {
  constructor(info: any, options?: any)
  server: Server
  registerTool(name: string, config: { inputSchema: any; [member: string]: any }, callback: (args: any, context: ${contextType}) => any): RegisteredTool
  registerTool(name: string, config: any, callback: (context: ${contextType}) => any): RegisteredTool
  registerPrompt(name: string, config: { argsSchema: any; [member: string]: any }, callback: (args: any, context: ${contextType}) => any): RegisteredPrompt
  registerPrompt(name: string, config: any, callback: (context: ${contextType}) => any): RegisteredPrompt
  registerResource(name: string, uri: string, config: any, read: (uri: any, context: ${contextType}) => any): RegisteredResource
  registerResource(name: string, template: ResourceTemplate, config: any, read: (uri: any, variables: any, context: ${contextType}) => any): RegisteredResourceTemplate
  tool(...args: any[]): RegisteredTool
  prompt(...args: any[]): RegisteredPrompt
  resource(...args: any[]): RegisteredResource
  connect(transport: any): Promise<void>
  close(): Promise<void>
  isConnected(): boolean
  sendLoggingMessage(params: any, sessionId?: string): Promise<void>
  sendResourceListChanged(): void
  sendToolListChanged(): void
  sendPromptListChanged(): void
  [member: string]: any
}
export declare class ResourceTemplate { constructor(template: any, callbacks: any); [member: string]: any }
export interface RegisteredTool { enable(): void; disable(): void; remove(): void; [member: string]: any }
export interface RegisteredPrompt { enable(): void; disable(): void; remove(): void; [member: string]: any }
export interface RegisteredResource { enable(): void; disable(): void; remove(): void; [member: string]: any }
export interface RegisteredResourceTemplate { enable(): void; disable(): void; remove(): void; [member: string]: any }
export interface CreateMessageRequest { [member: string]: any }
export interface ElicitRequest { [member: string]: any }
export interface CallToolRequest { [member: string]: any }
export interface GetPromptRequest { [member: string]: any }
export interface ReadResourceRequest { [member: string]: any }
export interface CompleteResourceTemplateCallback { (value: string, context?: any): any }
export interface Variables { [name: string]: string | string[] }
export declare class StdioServerTransport { constructor(...args: any[]); [member: string]: any }
export declare class SSEServerTransport { constructor(...args: any[]); [member: string]: any }
export declare class StreamableHTTPServerTransport { constructor(options?: any); [member: string]: any }
export declare class NodeStreamableHTTPServerTransport { constructor(options?: any); [member: string]: any }
export declare class WebStandardStreamableHTTPServerTransport { constructor(options?: any); [member: string]: any }
export declare function completable(schema: any, complete: any): any
export declare function isInitializeRequest(value: any): boolean
export declare class McpError extends Error { constructor(code: any, message: string, data?: any); code: any; data: any }
export declare const ErrorCode: any
`

const v1 = `${shared('RequestHandlerExtra')}
export interface RequestHandlerExtra<Request = any, Notification = any> { [member: string]: any }
export declare function createMcpExpressApp(options?: any): any
`

const v2 = `${shared('ServerContext')}
export interface ServerContext { mcpReq: { [member: string]: any }; http?: { [member: string]: any }; [member: string]: any }
export interface McpHttpHandler { fetch(request: any, options?: any): Promise<any>; notify: any; [member: string]: any }
export interface NodeHandler { (request: any, response: any, body?: any): Promise<void> }
export interface RequestStateCodec { [member: string]: any }
export declare function createRequestStateCodec(options?: any): RequestStateCodec
export declare function createMcpHandler(factory: any, options?: any): McpHttpHandler
export declare function toNodeHandler(handler: any, options?: any): NodeHandler
export declare function serveStdio(factory: any, options?: any): any
export declare class ProtocolError extends Error { constructor(code: any, message: string, data?: any); code: any; data: any }
export declare const ProtocolErrorCode: any
export declare function createMcpExpressApp(options?: any): any
export declare function createMcpHonoApp(options?: any): any
`

const agents = `
export declare abstract class McpAgent<Env = any, State = any, Props = any> {
  static serve(path: any, options?: any): any
  static serveSSE(path: any, options?: any): any
  static mount(path: any, options?: any): any
  [member: string]: any
}
export declare function createMcpHandler(server: any, options?: any): any
`

/** The declarations of each SDK. */
export const sdkDeclarations: Readonly<Record<SdkName, string>> = { v1, v2, agents }

/**
 * For each SDK, the packages that servers use. Packages that only clients use are left out: clients are not migrated, so
 * the project still needs these packages.
 */
const packages: Readonly<Record<SdkName, readonly string[]>> = {
  v1: ['@modelcontextprotocol/sdk'],
  v2: [
    '@modelcontextprotocol/server',
    '@modelcontextprotocol/core',
    '@modelcontextprotocol/node',
    '@modelcontextprotocol/express',
    '@modelcontextprotocol/hono',
  ],
  agents: ['agents'],
}

/** All packages that a project may no longer need after a migration. */
export const sdkPackages: readonly string[] = Object.values(packages).flat()

/** The SDK that a module belongs to, and its package; `undefined` for any other module. */
export function findSdk(specifier: string): { sdk: SdkName; package: string } | undefined {
  // Deno allows versions: npm:@modelcontextprotocol/sdk@^1.20.0/server/mcp.js
  const path = specifier.replace(/^npm:\/?/, '').replace(/^(@?[^@]+)@[^/]+/, '$1')
  for (const sdk of ['v1', 'v2', 'agents'] as const) {
    const name = packages[sdk].find((each) => path === each || path.startsWith(`${each}/`))
    // The other modules of Cloudflare's package are not about servers of MCP
    if (name === 'agents' && !/^agents\/mcp(?:\/server)?$/.test(path)) return undefined
    if (name !== undefined) return { sdk, package: name }
  }
  return undefined
}
