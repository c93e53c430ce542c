// A server whose handler asks the user twice, calls the client's model once, and requests the roots.
// The code does not depend on the revision or the transport.
import { createServer, type Context } from 'edgewise/server'
import * as z from 'zod'

export const server = createServer({ name: 'travel', version: '1.0.0' })

/** How often each order was quoted. The step must run once for each order. */
const quotes = new Map<string, number>()

server.tool(
  'plan',
  {
    description: 'Plans a trip together with the user and the model',
    input: z.object({ order: z.string(), city: z.string() }),
  },
  async ({ order, city }, ctx) => {
    const stay = await ctx.elicit({
      message: `How many nights in ${city}?`,
      schema: z.object({ nights: z.number().int().min(1) }),
    })
    if (stay.action !== 'accept') return 'Not planned'
    const { nights } = stay.content

    // Without the step, this would run again for each later answer.
    const price = await ctx.step('quote', () => {
      quotes.set(order, (quotes.get(order) ?? 0) + 1)
      return nights * 120
    })
    const confirmed = await ctx.elicit({
      message: `${nights} nights in ${city} for ${price}?`,
      schema: z.object({ confirm: z.boolean() }),
    })
    if (confirmed.action !== 'accept' || !confirmed.content.confirm) return 'Not planned'

    const [slogan, folder] = await Promise.all([advertise(ctx, city), ctx.roots()])
    return [
      `${nights} nights in ${city} for ${price}`,
      slogan,
      `kept in ${folder[0]?.name}`,
      `quoted ${quotes.get(order)} time(s)`,
    ].join(', ')
  },
)

// Every revision supports sampling.
server.tool('advertise', { input: z.object({ city: z.string() }) }, ({ city }, ctx) =>
  advertise(ctx, city),
)

// Prompts and resources can also ask.
server.prompt('letter', { input: z.object({ city: z.string() }) }, async ({ city }, ctx) => {
  const signed = await ctx.elicit({
    message: 'Who signs the letter?',
    schema: z.object({ name: z.string() }),
  })
  const name = signed.action === 'accept' ? signed.content.name : 'a friend'
  return `Write a letter from ${city}, signed by ${name}`
})

server.resource('travel://slogan', { name: 'slogan', mimeType: 'text/plain' }, (_read, ctx) =>
  advertise(ctx, 'Oslo'),
)

async function advertise(ctx: Context, city: string): Promise<string> {
  const { content } = await ctx.sample({
    messages: [{ role: 'user', content: { type: 'text', text: `Advertise ${city}` } }],
    maxTokens: 20,
  })
  const [block] = [content].flat()
  return block?.type === 'text' ? block.text : 'no slogan'
}
