/** Thrown if a project cannot be migrated. The message is printed without a stack. */
export class MigrationError extends Error {}
