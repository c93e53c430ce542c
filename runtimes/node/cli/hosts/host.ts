/**
 * The hosts that `edgewise install` configures, and where each host has its configuration. This module must not
 * import modules of Node, because the playground uses it too.
 */
import { UsageError } from '../usage.ts'
import { hostNames, type McpHostName } from './host-names.ts'

/** The properties of a machine that determine where the configuration of a host is. */
export interface Machine {
  readonly platform: NodeJS.Platform
  /** The home folder of the user. */
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder of the project. */
  readonly cwd: string
}

/** Whether a configuration applies to all projects of the user, or to the project in the current folder. */
export type Scope = 'user' | 'project'

/** A host, and how it is configured. */
export interface Host {
  /** The name that users of the host know. */
  readonly title: string
  /** The member of the file that contains the servers. */
  readonly section: string
  readonly format: 'json' | 'toml'
  /** The path of the user's file, in parts: a folder, and the names below it. */
  readonly userFile: (machine: Machine) => readonly string[]
  /** The path of a project's file, in parts: the names below the project's folder. */
  readonly projectFile?: readonly string[]
  /** How a value refers to an environment variable. Absent if the host does not replace variables in values. */
  readonly reference?: (name: string) => string
  /** What the user has to do before the host uses the server. */
  readonly next: string
}

const hosts: Readonly<Record<McpHostName, Host>> = {
  /** @see https://code.claude.com/docs/en/mcp#mcp-installation-scopes */
  'claude-code': {
    title: 'Claude Code',
    section: 'mcpServers',
    format: 'json',
    userFile: ({ env, home }) => [env['CLAUDE_CONFIG_DIR'] || home, '.claude.json'],
    projectFile: ['.mcp.json'],
    reference: (name) => `\${${name}}`,
    next: 'Start a new session of Claude Code',
  },
  /** @see https://modelcontextprotocol.io/docs/develop/connect-local-servers */
  'claude-desktop': {
    title: 'Claude Desktop',
    section: 'mcpServers',
    format: 'json',
    userFile: (machine) => [...applicationData(machine), 'Claude', 'claude_desktop_config.json'],
    next: 'Quit Claude Desktop, and start it again',
  },
  /** @see https://cursor.com/docs/mcp#configuration-locations */
  cursor: {
    title: 'Cursor',
    section: 'mcpServers',
    format: 'json',
    userFile: ({ home }) => [home, '.cursor', 'mcp.json'],
    projectFile: ['.cursor', 'mcp.json'],
    reference: (name) => `\${env:${name}}`,
    next: 'Enable the server in the settings of Cursor',
  },
  /**
   * @see https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
   * @see https://code.visualstudio.com/docs/configure/settings#_user-settingsjson-location
   */
  vscode: {
    title: 'VS Code',
    section: 'servers',
    format: 'json',
    userFile: (machine) => [...applicationData(machine), 'Code', 'User', 'mcp.json'],
    projectFile: ['.vscode', 'mcp.json'],
    reference: (name) => `\${env:${name}}`,
    next: 'Run "MCP: List Servers" in VS Code, and start the server',
  },
  /** @see https://developers.openai.com/codex/mcp */
  codex: {
    title: 'Codex',
    section: 'mcp_servers',
    format: 'toml',
    userFile: ({ env, home }) =>
      env['CODEX_HOME'] ? [env['CODEX_HOME'], 'config.toml'] : [home, '.codex', 'config.toml'],
    projectFile: ['.codex', 'config.toml'],
    next: 'Start a new session of Codex',
  },
  /** @see https://docs.windsurf.com/windsurf/cascade/mcp#mcp_config-json */
  windsurf: {
    title: 'Windsurf',
    section: 'mcpServers',
    format: 'json',
    userFile: ({ home }) => [home, '.codeium', 'windsurf', 'mcp_config.json'],
    reference: (name) => `\${env:${name}}`,
    next: 'Refresh the MCP servers in Windsurf',
  },
  /**
   * @see https://zed.dev/docs/ai/mcp#as-custom-servers
   * @see https://zed.dev/docs/configuring-zed#user-settings-file
   */
  zed: {
    title: 'Zed',
    section: 'context_servers',
    format: 'json',
    userFile: (machine) => {
      const { platform, home } = machine
      if (platform === 'win32') return [...applicationData(machine), 'Zed', 'settings.json']
      const folder = platform === 'darwin' ? [home, '.config'] : applicationData(machine)
      return [...folder, 'zed', 'settings.json']
    },
    next: 'Zed starts the server at once',
  },
}

/**
 * Reads the names of hosts from the values of `--client`.
 *
 * @throws {UsageError} If there is no value, or a host is unknown.
 */
export function requireHosts(words: readonly string[]): readonly McpHostName[] {
  const all = hostNames.join(', ')
  if (words.length === 0) throw new UsageError(`Specify a host with "--client": ${all}`)
  return [...new Set(words)].map((word) => {
    const name = hostNames.find((each) => each === word)
    if (name) return name
    throw new UsageError(`Unknown host: "${word}". "--client" must be one of ${all}`)
  })
}

/** Returns the host that has a name. */
export function hostOf(name: McpHostName): Host {
  return hosts[name]
}

/** The folder in which applications of the user keep their data. */
function applicationData({ platform, home, env }: Machine): readonly string[] {
  if (platform === 'win32') return env['APPDATA'] ? [env['APPDATA']] : [home, 'AppData', 'Roaming']
  if (platform === 'darwin') return [home, 'Library', 'Application Support']
  return env['XDG_CONFIG_HOME'] ? [env['XDG_CONFIG_HOME']] : [home, '.config']
}
