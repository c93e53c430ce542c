/**
 * MCP Apps, `io.modelcontextprotocol/ui`: tools with a user interface. Hosts that support the extension
 * display the interface along with the result. Other hosts receive only the result.
 *
 * The extension is Stable.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 * @module
 */
export { appResource } from './app-resource.ts'
export { appTool } from './app-tool.ts'
export { appsClient, isAppVisible, getContentsUi, getToolUi } from './client.ts'
export { supportsApps } from './extension.ts'
export { isModelVisible } from './ui.ts'
