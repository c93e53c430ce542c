/** The benchmark server on Edgewise. */
import { createServer, type Server, text } from 'edgewise/server'
import type { Server as TinyServer } from 'edgewise/server/tiny'
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
export function createEdgewise(set: ToolSet): Server {
  const server = createServer({ name: 'edgewise', version: '1.0.0' })
  offer(server, set)
  return server
}

/** Registers the tools of a set. */
export function offer(server: TinyServer, set: ToolSet): void {
  if (set === 'echo') {
    server.tool(echo.name, { description: echo.description, input: echoInput }, (input) => ({
      content: [{ type: 'text', text: input.text }],
    }))
  } else if (set === 'streaming') {
    server.tool(large.name, { description: large.description, input: largeInput }, ({ bytes }) =>
      text('x'.repeat(bytes)),
    )
    server.tool(
      progress.name,
      { description: progress.description, input: progressInput },
      async ({ steps }, ctx) => text(await eachStep(steps, (step) => ctx.progress(step))),
    )
  } else {
    for (const { name, ...described } of searchTools(set)) {
      server.tool(name, described, ({ query }) => text(query))
    }
  }
}
