// What can go wrong between two Workers, as tests that the calling Worker runs.
import type { Client } from 'edgewise/client'
import { connect } from '../../../src/presets/client.ts'
import { createTask, getRemoteTask, taskPolling } from '../../../src/tasks/index.ts'
import type { Transport } from '../../../src/transport/index.ts'
import { equal, ok, rejection, type Suite } from '../harness.ts'

interface Connection {
  send(text: unknown): Promise<string | null>
  close(): Promise<void>
  [Symbol.dispose](): void
}

/** A binding, as code that trusts no types sees it. */
export interface Binding {
  openConnection(receiver?: unknown): Promise<Connection>
  fetch(url: string): Promise<Response>
}

/** The bindings of the calling Worker. */
export interface Env {
  /** The compatibility date of both Workers. */
  DATE: string
  /** The entrypoint, with a principal in its properties. */
  CALLEE: Binding
  /** The same without properties. */
  ANONYMOUS: Binding
  OPS: Binding
  STRANGER: Binding
  UNKNOWN: Binding
  BRIEF: Binding
  PROTECTED: Binding
  BOOKING: Binding
  STATELESS: Binding
  BROKEN: Binding
  /** What the called Worker shows everyone. */
  PUBLIC: { fetch(url: string): Promise<Response> }
  /** This Worker. */
  SELF: { fetch(url: string): Promise<Response> }
}

/** What only exists on Workers. */
export interface Library {
  bindingTransport(binding: Binding): Transport
  RpcTarget: new () => object
}

type Text = { text: string }

export function bindingEdges(env: Env, { bindingTransport, RpcTarget }: Library): Suite {
  const open = (binding: Binding): Promise<Client> => connect(bindingTransport(binding))

  const textOf = async (call: ReturnType<Client['callTool']>): Promise<string> =>
    ((await call).content[0] as Text).text

  const whoami = async (binding: Binding): Promise<unknown> => {
    await using client = await open(binding)
    return JSON.parse(await textOf(client.callTool('whoami')))
  }

  /** Waits until the called Worker has seen something. */
  const untilSeen = async (what: string): Promise<void> => {
    for (let at = 0; at < 6000; at++) {
      const seen = (await (await env.PUBLIC.fetch('https://callee/seen')).json()) as string[]
      if (seen.includes(what)) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    throw new Error(`Never seen: ${what}`)
  }

  /** Opens a connection as a Worker without a client does. */
  const openByHand = (
    binding: Binding,
    receive = (): unknown => undefined,
  ): Promise<Connection> => {
    class Receiver extends RpcTarget {
      receive(): unknown {
        return receive()
      }
    }
    return binding.openConnection(new Receiver())
  }

  const discover = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: meta() }

  // Before that, workerd also reports the rejection as unhandled
  const otherRequest: Suite = {
    'A client cannot be used in another request': async () => {
      equal(await (await env.SELF.fetch('https://caller/keep')).text(), 'kept')
      equal(await (await env.SELF.fetch('https://caller/use-kept')).text(), 'CLOSED')
    },
  }

  return {
    'The properties of a binding are the principal and the authorization': async () => {
      equal(await whoami(env.CALLEE), {
        principal: 'shop',
        auth: { scopes: ['read'] },
        greeting: 'Hello',
      })
      equal(await whoami(env.ANONYMOUS), { greeting: 'Hello' })
    },

    'The option "caller" identifies Workers, and rejects others': async () => {
      equal(await whoami(env.OPS), { principal: 'Hello, ops', greeting: 'Hello' })
      equal((await rejection(open(env.STRANGER))).code, 'UNAUTHORIZED')
      equal((await rejection(open(env.UNKNOWN))).code, 'UNAUTHORIZED')
      await untilSeen('reported: The team is unknown')
    },

    'A connection closes when the authorization of its caller expires': async () => {
      const client = await open(env.BRIEF)
      const error = await rejection(client.callTool('wait', { name: 'expired' }))
      equal(error.code, 'CLOSED')
      await untilSeen('aborted expired')
    },

    'A transport that is closed while it connects stays closed': async () => {
      const transport = bindingTransport(env.CALLEE)
      const starting = transport.start({ message() {}, malformed() {}, closed() {} })
      await transport.close()
      await starting
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const
      equal((await rejection(transport.send(ping))).code, 'CLOSED')
    },

    'A tool that needs a scope is refused to Workers without it': async () => {
      await using refused = await open(env.PROTECTED)
      const error = await rejection(refused.callTool('book'))
      ok(String(error.message).includes('lacks the scope book'), String(error.message))
      await using admitted = await open(env.BOOKING)
      equal(await textOf(admitted.callTool('book')), 'booked')
    },

    'An exception in a tool reaches the caller without its details': async () => {
      await using client = await open(env.CALLEE)
      const { isError, content } = await client.callTool('crash')
      equal(isError, true)
      ok(!JSON.stringify(content).includes('secret'), 'A secret leaked')
    },

    'Notifications that were not awaited arrive in order, and before the response': async () => {
      await using client = await open(env.CALLEE)
      const progress: number[] = []
      await client.callTool(
        'count',
        { to: 1000 },
        { onProgress: (at) => progress.push(at.progress) },
      )
      equal(
        progress,
        Array.from({ length: 1000 }, (_, n) => n + 1),
      )
    },

    'A client that closes aborts its calls': async () => {
      const client = await open(env.CALLEE)
      const call = rejection(client.callTool('wait', { name: 'closed' }))
      await untilSeen('began closed')
      await client.close()
      equal((await call).code, 'CLOSED')
      await untilSeen('aborted closed')
    },

    'A cancelled call aborts its handler, and the connection goes on': async () => {
      await using client = await open(env.CALLEE)
      const controller = new AbortController()
      const { signal } = controller
      const call = rejection(client.callTool('wait', { name: 'cancelled' }, { signal }))
      await untilSeen('began cancelled')
      controller.abort()
      equal((await call).code, 'ABORTED')
      await untilSeen('aborted cancelled')
      equal(await textOf(client.callTool('length', { text: 'abc' })), '3')
    },

    'A caller that ends without closing aborts its calls': async () => {
      equal(await (await env.SELF.fetch('https://caller/leave')).text(), 'left')
      await untilSeen('aborted left')
    },

    'A callee that is aborted closes the connection': async () => {
      const client = await open(env.CALLEE)
      const idle = rejection(client.callTool('wait', { name: 'killed' }))
      await untilSeen('began killed')
      equal((await rejection(client.callTool('die'))).code, 'CLOSED')
      equal((await idle).code, 'CLOSED')
      equal((await rejection(client.callTool('whoami'))).code, 'CLOSED')
      await client.close()
      equal(await whoami(env.ANONYMOUS), { greeting: 'Hello' })
    },

    ...(env.DATE > '2026' && otherRequest),

    'Large messages arrive whole, up to the limits': async () => {
      await using client = await open(env.CALLEE)
      const large = (letter: string, length: number): Promise<string> =>
        textOf(client.callTool('large', { letter, length }))
      equal((await large('é', 20_000_000)).length, 20_000_000)
      equal((await large('漢', 10_000_000)).length, 10_000_000)
      const answer = await rejection(client.callTool('large', { letter: '漢', length: 17_000_000 }))
      equal(answer.code, -32603)
      ok(String(answer.message).includes('32 MiB'), String(answer.message))
      equal(await textOf(client.callTool('length', { text: 'x'.repeat(4_000_000) })), '4000000')
      const long = await rejection(client.callTool('length', { text: 'x'.repeat(5_000_000) }))
      equal(long.code, -32600)
      const longer = await rejection(client.callTool('length', { text: '漢'.repeat(17_000_000) }))
      equal(longer.code, 'LIMIT_EXCEEDED')
      equal(await textOf(client.callTool('length', { text: 'abc' })), '3')
    },

    'Calls beyond the limit are refused, but not their cancellation': async () => {
      await using client = await open(env.OPS)
      const controller = new AbortController()
      const { signal } = controller
      const open1 = rejection(client.callTool('wait', { name: 'one' }, { signal }))
      const open2 = rejection(client.callTool('wait', { name: 'two' }, { signal }))
      await untilSeen('began two')
      const error = await rejection(client.callTool('whoami'))
      equal([error.code, error.message], [-32603, 'More than 2 calls are open on this connection'])
      controller.abort()
      await Promise.all([open1, open2])
      await untilSeen('aborted one')
      await untilSeen('aborted two')
      equal(await textOf(client.callTool('length', { text: 'abc' })), '3')
    },

    'A task runs in its object': async () => {
      const options = { extensions: [taskPolling()] }
      await using client = await connect(bindingTransport(env.CALLEE), options)
      const created = await createTask(client, 'later')
      ok('task' in created, 'It is a task')
      await using other = await connect(bindingTransport(env.CALLEE), options)
      const { content } = await getRemoteTask(other, created.task.id).result()
      equal(content, [{ type: 'text', text: 'later for shop' }])
      await using stranger = await connect(bindingTransport(env.ANONYMOUS), options)
      equal((await rejection(getRemoteTask(stranger, created.task.id).result())).code, -32602)
    },

    'A change that another request announces reaches listeners': async () => {
      const updated: string[] = []
      await using client = await connect(bindingTransport(env.CALLEE), {
        onResourceUpdated: (uri) => updated.push(uri),
      })
      await client.subscribe('note://1')
      for (let at = 0; updated.length === 0; at++) {
        ok(at < 600, 'The client was never notified')
        await env.PUBLIC.fetch('https://callee/notify')
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      equal(updated[0], 'note://1')
    },

    'What is not a message gets an error, and the connection goes on': async () => {
      const connection = await openByHand(env.CALLEE)
      const codeOf = async (frame: unknown): Promise<unknown> => {
        const answer = await connection.send(frame)
        return answer === null ? null : (JSON.parse(answer) as { error?: Coded }).error?.code
      }
      type Coded = { code: number }
      const cycle: { self?: unknown } = {}
      cycle.self = cycle
      for (const frame of [undefined, null, 1, {}, discover, cycle, new Map(), () => 1]) {
        equal(await codeOf(frame), -32700)
      }
      equal(await codeOf(''), -32700)
      equal(await codeOf('{'), -32700)
      equal(await codeOf('['.repeat(5000) + ']'.repeat(5000)), -32700)
      equal(await codeOf('1'), -32600)
      equal(await codeOf('[]'), -32600)
      equal(await codeOf('{"jsonrpc":"2.0","id":{},"method":"ping"}'), -32600)
      equal(await codeOf('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), -32600)
      equal(await codeOf('{"jsonrpc":"2.0","id":7,"result":{}}'), null)
      equal(await codeOf('{"jsonrpc":"2.0","method":"notifications/cancelled"}'), null)
      equal(await codeOf('{"__proto__":{"jsonrpc":"2.0"},"id":1,"method":"ping"}'), -32600)
      equal(await codeOf(JSON.stringify(discover)), undefined)
      connection[Symbol.dispose]()
    },

    'A connection that is closed answers nothing, however often it is closed': async () => {
      const connection = await openByHand(env.CALLEE)
      const call = { name: 'wait', arguments: { name: 'by hand' }, ...meta() }
      const params = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call }
      const pending = connection.send(JSON.stringify(params))
      await untilSeen('began by hand')
      await connection.close()
      equal(await pending, null)
      await connection.close()
      equal(await connection.send(JSON.stringify(discover)), null)
      await untilSeen('aborted by hand')
      connection[Symbol.dispose]()
    },

    'A caller that takes nothing is disconnected': async () => {
      const connection = await openByHand(env.CALLEE, () => new Promise(() => {}))
      const call = { name: 'count', arguments: { to: 20_000 }, ...meta({ progressToken: 1 }) }
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }
      equal(await connection.send(JSON.stringify(message)), null)
      await untilSeen('reported: The calling Worker reads too slowly')
      connection[Symbol.dispose]()
    },

    'A server without objects is called in every era, and announces no changes': async () => {
      for (const revision of ['2025-11-25', '2026-07-28'] as const) {
        await using client = await connect(bindingTransport(env.STATELESS), { revision })
        equal(await textOf(client.callTool('length', { text: 'abc' })), '3')
      }
      const connection = await openByHand(env.STATELESS)
      const params = { notifications: { toolsListChanged: true }, ...meta() }
      const message = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }
      const { error } = JSON.parse(String(await connection.send(JSON.stringify(message)))) as {
        error: { code: number }
      }
      equal(error.code, -32601)
      connection[Symbol.dispose]()
    },

    'A binding to another entrypoint says what is missing': async () => {
      const error = await rejection(open(env.PUBLIC as Binding))
      equal(error.code, 'CLOSED')
      ok(String(error.message).includes('openConnection'), String(error.message))
    },

    'A connection needs a receiver': async () => {
      for (const receiver of [undefined, null, 1, 'x', {}, { receive: () => {} }]) {
        const error = await rejection(env.CALLEE.openConnection(receiver))
        ok(String(error.message).includes('bindingTransport'), String(error.message))
      }
    },

    'Nothing but the two methods can be called': async () => {
      const callee = env.CALLEE as unknown as Record<string, () => Promise<unknown>>
      for (const name of ['ctx', 'env', 'identify', 'props']) {
        await rejection(Promise.resolve(callee[name]?.()))
      }
      const connection = await openByHand(env.CALLEE)
      const known = connection as unknown as Record<string, () => Promise<unknown>>
      for (const name of ['answer', 'server', 'options', 'receiver']) {
        await rejection(Promise.resolve(known[name]?.()))
      }
      connection[Symbol.dispose]()
    },

    'An answer that is not MCP fails its call': async () => {
      const discovery = {
        revision: '2026-07-28' as const,
        capabilities: { tools: {} },
        serverInfo: { name: 'broken', version: '1' },
      }
      await using client = await connect(bindingTransport(env.BROKEN), { discovery })
      equal((await rejection(client.listAllTools())).code, 'INVALID_MESSAGE')
      equal((await rejection(client.callTool('any'))).code, 'INVALID_MESSAGE')
    },

    'The entrypoint answers no HTTP requests, even over a binding': async () => {
      const error = await rejection(env.CALLEE.fetch('https://callee/mcp'))
      ok(String(error.message).includes('fetch'), String(error.message))
    },
  }
}

/** The params of a self-describing request. */
function meta(more: object = {}): object {
  const prefix = 'io.modelcontextprotocol'
  return {
    _meta: {
      [`${prefix}/protocolVersion`]: '2026-07-28',
      [`${prefix}/clientCapabilities`]: {},
      [`${prefix}/clientInfo`]: { name: 'by hand', version: '1' },
      ...more,
    },
  }
}
