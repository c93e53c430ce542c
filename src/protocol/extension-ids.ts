/**
 * The ids of the protocol's own extensions.
 *
 * @see https://modelcontextprotocol.io/extensions
 */

/** The tasks extension, since 2026-07-28. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'
/** The skills extension. */
export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills'
/** The events extension. */
export const EVENTS_EXTENSION = 'io.modelcontextprotocol/events'
