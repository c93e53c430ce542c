/** The calling Worker of the binding benchmark: makes as many calls as it is asked for. */
import { bindingTransport } from '../runtimes/cloudflare/index.ts'
import { connect, type Client, type ConnectOptions } from '../src/presets/client.ts'
import { template } from './requests.ts'

const TEXT = 'The quick brown fox jumps over the lazy dog'
const echo = { name: 'echo', arguments: { text: TEXT } }
const { headers, body } = template('tools/call', echo, undefined)

interface Connection extends Disposable {
  send(text: string): Promise<string>
}
interface Env {
  BARE: { open(): Promise<Connection> }
  MCP: Parameters<typeof bindingTransport>[0]
  SERVED: { fetch(url: string, init?: RequestInit): Promise<Response> }
}

/** One way to call: each use opens a connection, makes calls and closes it. */
type CallMethod = (
  env: Env,
  use: (call: (n: number) => Promise<unknown>) => Promise<void>,
) => Promise<void>

type Discovery = ConnectOptions['discovery']
const discoveries: Record<string, Discovery> = {}

/** Calls through a client, which discovers its server once for each isolate. */
async function withClient(
  name: string,
  open: (options: ConnectOptions) => Promise<Client>,
  use: Parameters<CallMethod>[1],
): Promise<void> {
  const client = await open({ discovery: discoveries[name] })
  discoveries[name] = client.discovery
  await use((_n) => client.callTool('echo', echo.arguments))
  await client.close()
}

const callMethods: Record<string, CallMethod> = {
  async 'bare-rpc'({ BARE }, use) {
    using connection = await BARE.open()
    await use(async (n) => JSON.parse(await connection.send(body(n))) as unknown)
  },
  async 'bare-fetch'({ SERVED }, use) {
    const url = 'https://served/bare'
    await use(async (n) =>
      (await SERVED.fetch(url, { method: 'POST', headers, body: body(n) })).json(),
    )
  },
  rpc: ({ MCP }, use) =>
    withClient('rpc', (options) => connect(bindingTransport(MCP), options), use),
  fetch: ({ SERVED }, use) =>
    withClient(
      'fetch',
      (options) =>
        connect('https://served/mcp', {
          ...options,
          fetch: (url: string, init?: RequestInit) => SERVED.fetch(url, init),
        }),
      use,
    ),
}

/** How many calls, or connections, are open at a time. */
const LANES = 8

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const callMethod = callMethods[pathname.slice(1)]
    if (!callMethod) return new Response('Unknown', { status: 404 })
    const total = Number(searchParams.get('calls'))
    let made = 0
    const runInLanes = (makeCall: () => Promise<unknown>): Promise<unknown> =>
      Promise.all(
        Array.from({ length: LANES }, async () => {
          while (made < total) {
            made++
            if (!JSON.stringify(await makeCall()).includes(TEXT)) throw new Error('No echo')
          }
        }),
      )
    if (searchParams.has('each')) {
      await runInLanes(async () => {
        let answer: unknown
        await callMethod(env, async (call) => {
          answer = await call(1)
        })
        return answer
      })
    } else {
      await callMethod(env, async (call) => {
        await runInLanes(() => call(made))
      })
    }
    return new Response(String(made))
  },
}
