/**
 * A client's tools for agent libraries.
 *
 * @module
 */
export { toolFunctions } from './functions.ts'
export { aiTools } from './ai-tools.ts'
export type { AiTool } from './ai-tools.ts'
export type { ToolFunction } from './functions.ts'
