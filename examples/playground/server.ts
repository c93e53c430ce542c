/**
 * The playground's server, with a small example of every feature.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import { createServer, image, resourceLink, text, ToolError, uriTemplate } from 'edgewise/server'
import { tasks } from 'edgewise/tasks'
import * as z from 'zod'
import { cities, findCity, matchCities } from './cities.ts'
import { landscape } from './landscape.ts'
import { order } from './pizza.ts'

/** The server, which the Worker and the tests serve. */
export const server = createServer(
  {
    name: 'edgewise-demo',
    title: 'Edgewise demo',
    version: '1.0.0',
    description: 'One small thing of every kind that a server can offer.',
  },
  {
    instructions:
      'Start with “Greet”. “Count slowly” shows progress and can be cancelled. “Develop a film” is a task, which goes on without a connection. “Book a trip” asks two questions before it answers, “Write a postcard” asks your model as well.',
  },
)

server.extend(tasks({ pollIntervalMs: 500, ttlMs: 600_000 }))

const readOnly = { readOnlyHint: true }

server.tool(
  'greet',
  {
    title: 'Greet',
    description: 'Says hello to someone.',
    annotations: readOnly,
    input: z.object({
      name: z.string().min(1).describe('Who is greeted.'),
      style: z.enum(['plain', 'formal', 'cheerful']).default('plain').describe('The tone.'),
    }),
  },
  ({ name, style }) => {
    const words = {
      plain: `Hello, ${name}.`,
      formal: `Good day, ${name}.`,
      cheerful: `Hey ${name}!`,
    }
    return text(words[style])
  },
)

server.tool(
  'calculate',
  {
    title: 'Calculate',
    description: 'Works on two numbers and gives structured content.',
    annotations: readOnly,
    input: z.object({
      a: z.number().describe('The first number.'),
      b: z.number().describe('The second number.'),
      operation: z.enum(['add', 'subtract', 'multiply', 'divide']).default('add').describe('How.'),
    }),
    output: z.object({ value: z.number(), formula: z.string() }),
  },
  ({ a, b, operation }) => {
    if (operation === 'divide' && b === 0) throw new ToolError('Cannot divide by zero')
    const value = { add: a + b, subtract: a - b, multiply: a * b, divide: a / b }[operation]
    const sign = { add: '+', subtract: '−', multiply: '×', divide: '÷' }[operation]
    return { structuredContent: { value, formula: `${a} ${sign} ${b} = ${value}` } }
  },
)

server.tool(
  'count',
  {
    title: 'Count slowly',
    description: 'Runs for a while, and reports its progress. Cancel it to see it stop.',
    annotations: readOnly,
    input: z.object({
      steps: z.number().int().min(1).max(50).default(8).describe('How far to count.'),
      pauseMs: z.number().int().min(0).max(2000).default(400).describe('Between steps.'),
    }),
  },
  async ({ steps, pauseMs }, ctx) => {
    await ctx.log('info', `Counting to ${steps}`, { logger: 'count' })
    for (let step = 1; step <= steps; step++) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      if (ctx.signal.aborted) return text(`Stopped at ${step}.`)
      await ctx.progress(step, { total: steps, message: `Step ${step} of ${steps}` })
    }
    await ctx.log('notice', 'Counted', { logger: 'count' })
    return text(`Counted to ${steps}.`)
  },
)

server.tool(
  'develop',
  {
    title: 'Develop a film',
    description: 'Goes on without a connection, as a task, and asks in between for the paper.',
    annotations: { destructiveHint: false },
    input: z.object({ pictures: z.number().int().min(1).max(12).default(3).describe('How many.') }),
    task: 'optional',
  },
  async ({ pictures }, ctx) => {
    const darkroom = await ctx.step('darkroom', () => 1 + Math.floor(Math.random() * 9))
    await ctx.progress(1, { total: 3, message: `Developing in darkroom ${darkroom}` })
    await ctx.step('develop', () => new Promise((resolve) => setTimeout(resolve, 1500)))
    const { content } = await ctx.elicit({
      message: `The film is developed. On which paper are its ${pictures} pictures printed?`,
      schema: z.object({ paper: z.enum(['Glossy', 'Matte']).meta({ title: 'Paper' }) }),
    })
    if (!content) return text('The film was developed, but nothing was printed.')
    await ctx.progress(2, { total: 3, message: `Printing on ${content.paper.toLowerCase()} paper` })
    await ctx.step('print', () => new Promise((resolve) => setTimeout(resolve, 1500)))
    return text(`Printed ${pictures} pictures on ${content.paper.toLowerCase()} paper.`)
  },
)

server.tool(
  'book',
  {
    title: 'Book a trip',
    description: 'Asks for the dates and for a confirmation before it books.',
    annotations: { destructiveHint: true },
    input: z.object({
      city: z.enum(cities.map(({ name }) => name)).describe('Where to.'),
      nights: z.number().int().min(1).max(30).default(2).describe('How long to stay.'),
    }),
  },
  async ({ city, nights }, ctx) => {
    const wishes = await ctx.elicit({
      message: `When do you arrive in ${city}, and how would you like to stay?`,
      schema: z.object({
        arrival: z.iso.date().meta({ title: 'Arrival' }),
        room: z.enum(['Single', 'Double', 'Suite']).meta({ title: 'Room' }),
        breakfast: z.boolean().default(true).meta({ title: 'Breakfast' }),
      }),
    })
    if (wishes.action !== 'accept') return text('Nothing was booked: the wishes were not given.')

    const { arrival, room } = wishes.content
    // A step runs once, although in 2026-07-28 the handler runs again with every answer
    const price = await ctx.step(
      'quote',
      () => nights * { Single: 90, Double: 140, Suite: 260 }[room],
    )
    const answer = await ctx.elicit({
      message: `${nights} nights in ${city} from ${arrival}, ${room.toLowerCase()} room: ${price} €.`,
      schema: z.object({ confirm: z.boolean().meta({ title: 'Book it' }) }),
    })
    if (answer.action !== 'accept' || !answer.content.confirm) {
      return text('Nothing was booked: the offer was not taken.')
    }
    const reference = await ctx.step('book', () => crypto.randomUUID().slice(0, 8).toUpperCase())
    return [
      text(`Booked ${nights} nights in ${city} from ${arrival}. Reference: ${reference}`),
      resourceLink({ uri: `demo://cities/${city}`, name: city, title: `About ${city}` }),
    ]
  },
)

server.tool(
  'postcard',
  {
    title: 'Write a postcard',
    description: 'Asks you who gets it, has your model write it, and asks you whether to send it.',
    annotations: { destructiveHint: false },
    input: z.object({ city: z.enum(cities.map(({ name }) => name)).describe('Where from.') }),
  },
  async ({ city }, ctx) => {
    const receiver = await ctx.elicit({
      message: `Who gets the postcard from ${city}?`,
      schema: z.object({ name: z.string().min(1).meta({ title: 'Name' }) }),
    })
    if (receiver.action !== 'accept') return text('No postcard was written.')

    const { name } = receiver.content
    const { content } = await ctx.sample({
      systemPrompt: 'You write postcards of one or two sentences.',
      messages: [
        {
          role: 'user',
          content: { type: 'text', text: `Write a postcard from ${city} to ${name}.` },
        },
      ],
      maxTokens: 100,
    })
    const [written] = [content].flat()
    const card = written?.type === 'text' ? written.text : '…'
    const sent = await ctx.elicit({
      message: `“${card}”`,
      schema: z.object({ send: z.boolean().meta({ title: `Send it to ${name}` }) }),
    })
    if (sent.action !== 'accept' || !sent.content.send) return text('The postcard was not sent.')
    const stamp = await ctx.step('send', () => crypto.randomUUID().slice(0, 4).toUpperCase())
    return text(`Sent to ${name} with stamp ${stamp}: ${card}`)
  },
)

server.tool(
  'order',
  {
    title: 'Order a pizza',
    description: 'Has every kind of field: choices, several choices, lists and nested objects.',
    annotations: { destructiveHint: false },
    input: order,
    output: z.object({ minutes: z.number(), order: z.unknown() }),
  },
  (pizza) => ({ structuredContent: { minutes: 25 + 5 * pizza.toppings.length, order: pizza } }),
)

server.tool(
  'draw',
  {
    title: 'Draw',
    description: 'Draws a landscape and returns it as an image.',
    annotations: readOnly,
    input: z.object({ hue: z.number().int().min(0).max(360).default(220).describe('In degrees.') }),
  },
  ({ hue }) => image(new TextEncoder().encode(landscape(hue)), 'image/svg+xml'),
)

server.tool(
  'sign',
  {
    title: 'Sign on a page',
    description: 'Asks you to open a page, for what must not pass through the client.',
    annotations: { destructiveHint: false },
  },
  async (_, ctx) => {
    const { action } = await ctx.elicitUrl({
      message: 'The contract waits for your signature.',
      url: 'https://sign.example/contract?id=42',
    })
    return text(action === 'accept' ? 'Thank you. The page is open.' : 'The page was not opened.')
  },
)

server.tool(
  'fail',
  { title: 'Fail', description: 'Fails in a way that a model can read.', annotations: readOnly },
  () => {
    throw new ToolError('The oven is cold. Try again after 18:00')
  },
)

server.resource(
  'demo://about',
  {
    name: 'about',
    title: 'About this server',
    description: 'What this server is for.',
    mimeType: 'text/markdown',
  },
  () => '# Edgewise demo\n\nEvery kind of thing that a server can offer, once and small.\n',
)

server.resource(
  'demo://cities',
  { name: 'cities', title: 'Cities', description: 'All cities.', mimeType: 'application/json' },
  () => JSON.stringify(cities),
)

server.resourceTemplate(
  uriTemplate('demo://cities/{city}'),
  {
    name: 'city',
    title: 'City',
    description: 'Facts about one city.',
    mimeType: 'application/json',
    complete: { city: matchCities },
  },
  ({ variables }) => JSON.stringify(findCity(String(variables['city']))),
)

server.prompt(
  'plan',
  {
    title: 'Plan a trip',
    description: 'Asks for a plan for a few days in a city.',
    input: z.object({
      city: z.string().describe('Where to.'),
      mood: z.string().optional().describe('What kind of days they should be.'),
    }),
    complete: {
      city: matchCities,
      mood: (value) => ['calm', 'busy', 'hungry'].filter((mood) => mood.startsWith(value)),
    },
  },
  ({ city, mood = 'calm' }) =>
    text(`Plan three ${mood} days in ${city}. Ask before you book anything.`),
)
