/**
 * The tools of a server, called through a client, in the formats of agent libraries and model APIs.
 *
 * @module
 */
export { toolFunctions } from './functions.ts'
export { aiTools } from './ai-tools.ts'
export type { AiTool } from './ai-tools.ts'
export type { ToolFunction } from './functions.ts'
