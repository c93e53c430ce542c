/** The benchmark server on tmcp. */
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { McpServer } from 'tmcp'
import type { ToolSet } from '../subject.ts'
import {
  eachStep,
  echo,
  echoInput,
  large,
  largeInput,
  progress,
  progressInput,
  searchTools,
} from '../tools.ts'

/** A server with its tools. */
export function createServer(set: ToolSet) {
  const server = new McpServer(
    { name: 'tmcp', version: '1.0.0', description: 'Bench' },
    { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } },
  )
  if (set === 'echo') {
    server.tool({ ...echo, schema: echoInput }, ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
  } else if (set === 'streaming') {
    server.tool({ ...large, schema: largeInput }, ({ bytes }) => ({
      content: [{ type: 'text', text: 'x'.repeat(bytes) }],
    }))
    server.tool({ ...progress, schema: progressInput }, async ({ steps }) => {
      const text = await eachStep(steps, (step) => server.progress(step))
      return { content: [{ type: 'text', text }] }
    })
  } else {
    for (const { name, description, input } of searchTools(set)) {
      server.tool({ name, description, schema: input }, ({ query }) => ({
        content: [{ type: 'text', text: query }],
      }))
    }
  }
  return server
}
