// A server for any number of processes: each of them runs this program, and they share a Postgres
// database. It is configured by the environment: see compose.yaml.
import { hostname } from 'node:os'
import postgres from 'postgres'
import { serve } from 'edgewise/node'
import { createPostgresStorage } from 'edgewise/postgres'
import { createServer, resumableCalls, type Context } from 'edgewise/server'
import { tasks } from 'edgewise/tasks'
import * as z from 'zod'
import { openBakery } from './bakery.ts'

const instance = process.env.INSTANCE ?? hostname()
const openClient = () =>
  postgres(required('DATABASE_URL'), { fetch_types: false, onnotice: () => {} })
const sql = openClient()
const storage = createPostgresStorage(openClient)
const bakery = await openBakery(sql, instance)

const server = createServer({ name: 'bakery', version: '1.0.0' })
const catering = tasks({ store: storage.taskStore(), leaseMs: 10_000, pollIntervalMs: 500 })
server.extend(catering)

const input = z.object({ order: z.string(), cakes: z.int().min(1).max(100) })

server.tool('which_process', { description: 'Names the process that answers' }, () => instance)

server.tool(
  'bake',
  { description: 'Bakes the cakes of an order, asks for the address, delivers', input },
  async (args, ctx) => {
    await bakeCakes(args, ctx)
    const { content } = await ctx.elicit({
      message: `Where should order ${args.order} be delivered?`,
      schema: z.object({ address: z.string() }),
    })
    if (!content) return `Order ${args.order} waits in the shop`
    await ctx.step('delivery', () => bakery.deliver(args.order))
    return `Order ${args.order} was delivered to ${content.address}`
  },
)

server.tool(
  'cater',
  { description: 'Bakes a large order as a task', input, task: 'required' },
  async (args, ctx) => {
    await bakeCakes(args, ctx)
    return `Order ${args.order} is ready`
  },
)

/** A step that was recorded is not run again, although the handler may be: in another process. */
async function bakeCakes({ order, cakes }: z.infer<typeof input>, ctx: Context): Promise<void> {
  for (let cake = 1; cake <= cakes; cake++) {
    await ctx.progress(cake - 1, { total: cakes })
    await ctx.step(`cake ${cake}`, () => bakery.bake(order, cake))
  }
}

server.tool(
  'prove_dough',
  { description: 'Takes a second, in which the client need not stay connected' },
  async (_args, ctx) => {
    ctx.disconnect(100)
    await new Promise((done) => setTimeout(done, 1000))
    return 'The dough has risen'
  },
)

server.resource('bakery://menu', { name: 'menu' }, async () => `Cake: ${await bakery.price()}`)
server.tool(
  'set_price',
  { description: 'Sets the price of a cake', input: z.object({ price: z.int() }) },
  async ({ price }) => {
    await bakery.setPrice(price)
    server.notify.resourceUpdated('bakery://menu')
    return `A cake costs ${price}`
  },
)

// Changes of other processes are announced in this one, and the other way around
await storage.connect(server)
await catering.resume()

const hosts = process.env.ALLOWED_HOSTS
const http = await serve(server, {
  port: Number(process.env.PORT ?? 8000),
  hostname: process.env.HOST ?? '0.0.0.0',
  ...(hosts && { allowedHosts: hosts.split(',') }),
  // What one process sealed, another must be able to open
  secrets: [required('MCP_SECRET')],
  // 2025-11-25: any process may serve any request of a session
  sessions: storage.sessions({
    calls: resumableCalls,
    // All callers have the address of the load balancer
    maxSessionsPerCaller: 10_000,
  }),
})
console.log(`"${instance}" serves ${http.url}`)

process.once('SIGTERM', () => void stop())

/** Lets the others go on with what this process was doing. */
async function stop(): Promise<void> {
  await http.close()
  await storage.close()
  await sql.end()
}

function required(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`Set the environment variable ${name}`)
  return value
}
