// A server with more of everything than a page should show at once, and with every kind of field.
import { createServer, text } from 'edgewise/server'
import * as z from 'zod'

/** How many tools have nothing but a name. */
export const TOOLS = 1_000

/** A word that fits nowhere. */
export const LONG = 'unbreakable'.repeat(20)

/** The server. */
export const server = createServer(
  { name: 'crowd', title: 'Crowd', version: '1.0.0', description: 'o'.repeat(300) },
  { maxLogsPerSecond: Infinity },
)

server.tool(
  'flood',
  { title: 'Flood', input: z.object({ lines: z.number().int() }) },
  async ({ lines }, ctx) => {
    for (let line = 1; line <= lines; line++) {
      // Some are higher than others
      const more = line % 7 === 0 ? ' and so on'.repeat(line % 30) : ''
      await ctx.log('info', `Line ${line}${more}`)
    }
    return text(`Logged ${lines} lines.`)
  },
)

const shape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('circle'), radius: z.number() }),
  z.object({ kind: z.literal('box'), width: z.number(), height: z.number() }),
])
server.tool(
  'arrange',
  {
    title: 'Arrange',
    input: z.object({
      shape,
      code: z.union([z.string(), z.number()]),
      guests: z
        .array(z.object({ name: z.string(), seat: z.object({ row: z.number() }).optional() }))
        .min(1),
      size: z.enum(['S', 'M']).nullable(),
      label: z.union([z.object({ text: z.string() }), z.array(z.string())]).optional(),
    }),
  },
  (given) => ({ structuredContent: { given } }),
)

server.tool(
  'lengthen',
  { title: 'long'.repeat(30), input: z.object({ [LONG]: z.enum([LONG]).describe(LONG) }) },
  async (_, ctx) => {
    await ctx.log('warning', LONG, { logger: LONG })
    const answer = await ctx.elicit({ message: LONG, schema: z.object({ [LONG]: z.boolean() }) })
    return [text(LONG), text(JSON.stringify({ [LONG]: answer }))]
  },
)

for (let number = 1; number <= TOOLS; number++) {
  const name = `tool-${String(number).padStart(4, '0')}`
  server.tool(name, { description: `Does thing number ${number}.` }, () => text(name))
}

server.resource('crowd://one', { name: 'one' }, () => 'One')
