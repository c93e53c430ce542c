/**
 * The ids of the protocol's own extensions.
 *
 * @see https://modelcontextprotocol.io/extensions
 */

/** Tasks, since 2026-07-28. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'
/** Skills. */
export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills'
