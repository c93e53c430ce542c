/**
 * A client's tools for agent libraries.
 *
 * @module
 */
export { toolFunctions, type ToolFunction, type ToolsetOptions } from './functions.ts'
export {
  aiTools,
  type AiContent,
  type AiOutput,
  type AiTool,
  type AiToolsOptions,
} from './ai-tools.ts'
