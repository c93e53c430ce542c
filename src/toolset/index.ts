/**
 * The tools of a server, called through a client, in the formats of agent libraries and model APIs.
 *
 * @module
 */
export { toolFunctions } from './functions.ts'
export { aiSdkTools } from './ai-sdk-tools.ts'
export type { AiSdkTool } from './ai-sdk-tools.ts'
export type { ToolFunction } from './functions.ts'
