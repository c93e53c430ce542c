/**
 * A client's tools for agent libraries.
 *
 * @module
 */
export { toolFunctions } from './functions.ts'
export { aiTools } from './ai-tools.ts'
