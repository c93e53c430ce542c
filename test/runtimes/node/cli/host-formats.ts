// The documented formats of hosts, in which tests read what is written.
import { parse as parseToml } from 'smol-toml'
import ts from 'typescript'
import * as z from 'zod'
import type { McpHostName } from '../../../../runtimes/node/cli/hosts/host-names.ts'

const strings = z.record(z.string(), z.string())
const program = { command: z.string(), args: z.array(z.string()), env: strings.optional() }
const remote = { url: z.url(), headers: strings.optional() }
const cwd = z.string().optional()

/** The members of the files that concern servers. */
const formats: Readonly<Record<McpHostName, z.ZodType<Readonly<Record<string, unknown>>>>> = {
  // https://code.claude.com/docs/en/mcp
  'claude-code': servers('mcpServers', [
    z.strictObject({ type: z.literal('stdio'), ...program }),
    z.strictObject({ type: z.literal('http'), ...remote }),
  ]),
  // https://modelcontextprotocol.io/docs/develop/connect-local-servers
  'claude-desktop': servers('mcpServers', [z.strictObject(program)]),
  // https://cursor.com/docs/mcp
  cursor: servers('mcpServers', [z.strictObject(program), z.strictObject(remote)]),
  // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
  vscode: z.looseObject({
    servers: z.record(
      z.string(),
      z.union([
        z.strictObject({ type: z.literal('stdio'), ...program, cwd }),
        z.strictObject({ type: z.literal('http'), ...remote }),
      ]),
    ),
    inputs: z
      .array(
        z.strictObject({
          type: z.literal('promptString'),
          id: z.string(),
          description: z.string(),
          password: z.boolean().optional(),
        }),
      )
      .optional(),
  }),
  // https://developers.openai.com/codex/mcp
  codex: servers('mcp_servers', [
    z.strictObject({ ...program, cwd, env_vars: z.array(z.string()).optional() }),
    z.strictObject({
      url: z.url(),
      bearer_token_env_var: z.string().optional(),
      http_headers: strings.optional(),
      env_http_headers: strings.optional(),
    }),
  ]),
  // https://docs.windsurf.com/windsurf/cascade/mcp
  windsurf: servers('mcpServers', [
    z.strictObject(program),
    z.strictObject({ serverUrl: z.url(), headers: strings.optional() }),
  ]),
  // https://zed.dev/docs/ai/mcp
  zed: servers('context_servers', [z.strictObject(program), z.strictObject(remote)]),
}

function servers(section: string, kinds: readonly [z.ZodType, ...z.ZodType[]]) {
  return z.looseObject({ [section]: z.record(z.string(), z.union(kinds)) })
}

/** Reads a configuration as its host does. */
export function readAs(host: McpHostName, text: string): Readonly<Record<string, unknown>> {
  return formats[host].parse(host === 'codex' ? parseToml(text) : parseJsonc(text))
}

/** Parses JSON with comments by another parser than the one that edited it. */
export function parseJsonc(text: string): Readonly<Record<string, unknown>> {
  const { config, error } = ts.parseConfigFileTextToJson(
    'settings.json',
    text.replace(/^\uFEFF/, ''),
  ) as { config: Record<string, unknown>; error?: ts.Diagnostic }
  if (error) throw new SyntaxError(JSON.stringify(error.messageText))
  return config
}
