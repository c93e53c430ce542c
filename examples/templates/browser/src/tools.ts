// What the page shows about a server, independent of the page.
import type { Client } from 'edgewise/browser'

export async function describeTools(client: Client): Promise<string[]> {
  const lines: string[] = []
  for await (const { name, description = '' } of client.tools()) {
    lines.push(`${name}: ${description}`)
  }
  return lines
}
