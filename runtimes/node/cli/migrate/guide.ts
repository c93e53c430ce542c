/**
 * Formats the text of marks. A mark is a `TODO` comment for the developer, and refers to a section of the
 * documentation.
 */

/** The sections of the documentation that marks refer to: a page and a heading. */
const sections = {
  asking: 'migrate-official-v2.md#asking',
  handlers: 'migrate-official-v1.md#handlers',
  http: 'migrate-official-v1.md#over-http',
  list: 'migrate-official-v1.md#a-list-for-each-caller',
  mcpAgent: 'migrate-mcp-agent.md#other-names',
  officialV2: 'migrate-official-v2.md#other-names',
  server: 'migrate-official-v1.md#a-server-with-a-tool',
  replay: 'guides/asking.md#the-one-rule',
  sharedState: 'migrate-official-v1.md#shared-state-one-server-for-all-sessions',
  state: 'migrate-mcp-agent.md#state',
  visible: 'guides/server.md#control-who-sees-what',
  tokens: 'migrate-official-v1.md#with-access-tokens',
  wrangler: 'migrate-mcp-agent.md#wranglertoml',
} as const

/** The name of a section of the documentation. */
export type GuideSection = keyof typeof sections

/** The text that begins each mark. */
export const MARK = 'TODO(edgewise): '

/** The text of a mark. */
export function formatMark(message: string, section: GuideSection): string {
  return `${MARK}${message}. See docs/${sections[section]}`
}
