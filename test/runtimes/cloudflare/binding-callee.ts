// A Worker that other Workers call over service bindings, and that shows tests what its tools did.
import { WorkerEntrypoint, RpcTarget } from 'cloudflare:workers'
import * as z from 'zod'
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { protectedResource } from '../../../src/protected-resource/index.ts'
import { createServer, text } from '../../../src/presets/server.ts'
import { tasks } from '../../../src/tasks/index.ts'

/** What the tools did, and what was reported. */
const seen: string[] = []
const server = createServer(
  { name: 'callee', version: '1.0.0' },
  { onError: (error) => seen.push(`reported: ${(error as Error).message}`) },
)
server.extend(tasks({ pollIntervalMs: 50 }))

server.tool('whoami', {}, (_args, { principal, auth, request, env }) =>
  JSON.stringify({ principal, auth, request, greeting: (env as { GREETING: string }).GREETING }),
)
server.tool('book', { scopes: ['book'] }, () => 'booked')
server.tool('crash', {}, () => {
  throw new Error('a secret')
})
server.tool('wait', { input: z.object({ name: z.string() }) }, async ({ name }, { signal }) => {
  seen.push(`began ${name}`)
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  seen.push(`aborted ${name}`)
  return 'aborted'
})
server.tool('large', { input: z.object({ length: z.number(), letter: z.string() }) }, (args) =>
  text(args.letter.repeat(args.length)),
)
server.tool('length', { input: z.object({ text: z.string() }) }, (args) => String(args.text.length))
server.tool('count', { input: z.object({ to: z.number() }) }, ({ to }, ctx) => {
  for (let n = 1; n <= to; n++) void ctx.progress(n)
  return 'counted'
})
server.tool('later', { task: 'required' }, async (_args, ctx) => {
  await ctx.progress(1)
  return `later for ${ctx.principal}`
})
server.tool('die', {}, () => {
  lastContext?.abort(new Error('Killed by a test'))
  return new Promise<string>(() => {})
})
server.resource('note://1', { name: 'One' }, () => 'The first note')

const worker = createWorker(server)
export const { McpSession, McpHub, McpTask } = worker.durableObjects

let lastContext: { abort(reason: Error): void } | undefined

export class Callee extends worker.entrypoint {
  override openConnection(
    ...args: Parameters<InstanceType<typeof worker.entrypoint>['openConnection']>
  ): ReturnType<InstanceType<typeof worker.entrypoint>['openConnection']> {
    lastContext = this.ctx
    return super.openConnection(...args)
  }
}

/** Admits one team only, with few calls at a time. */
export const Guarded = createWorker(server, {
  entrypoint: {
    maxOpenCalls: 2,
    caller({ team }, { GREETING }: { GREETING?: string }) {
      if (team === 'none') throw new Error('The team is unknown')
      if (team === 'brief') return { auth: { expiresAt: Date.now() + 500 } }
      return team === 'ops' ? { principal: `${GREETING}, ops` } : undefined
    },
  },
}).entrypoint

/** Has tools that need scopes. */
export const Protected = createWorker(server, {
  auth: protectedResource({
    resource: 'https://mcp.example/mcp',
    authorizationServers: ['https://issuer.example'],
    verify: () => Promise.resolve(undefined),
  }),
}).entrypoint

/** Has no objects that know of changes. */
export const Stateless = createWorker(server, { stateless: true }).entrypoint

/** Answers with what is not MCP. */
export class Broken extends WorkerEntrypoint {
  openConnection(receiver: { dup(): object }): RpcTarget {
    return new BrokenConnection(receiver.dup())
  }
}
class BrokenConnection extends RpcTarget {
  /** Kept, as the caller would otherwise see the connection close. */
  readonly receiver: object

  constructor(receiver: object) {
    super()
    this.receiver = receiver
  }

  send(message: string): unknown {
    return message.includes('tools/list') ? 'not json' : { id: 1 }
  }
  close(): void {}
}

export default {
  async fetch(...args: Parameters<typeof worker.fetch>): Promise<Response> {
    switch (new URL(args[0].url).pathname) {
      case '/seen':
        return Response.json(seen)
      case '/notify':
        await worker.notify.resourceUpdated('note://1')
        return new Response('notified')
    }
    return worker.fetch(...args)
  },
}
