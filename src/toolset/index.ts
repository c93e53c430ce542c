/**
 * A client's tools for agent libraries.
 *
 * @module
 */
export { toolFunctions, type ToolFunction } from './functions.ts'
export { aiTools, type AiTool } from './ai-tools.ts'
