/**
 * The names of hosts on the command line.
 */
const names = [
  'claude-code',
  'claude-desktop',
  'cursor',
  'vscode',
  'codex',
  'windsurf',
  'zed',
] as const

/** The name of a host on the command line. */
export type McpHostName = (typeof names)[number]

/** The names of all hosts. */
export const hostNames: readonly McpHostName[] = names
