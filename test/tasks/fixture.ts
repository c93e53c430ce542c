/** A server whose tools are tasks, and a caller of it that sees the wire. */
import * as z from 'zod'
import type { TasksOptions } from '../../src/tasks/options.ts'
import { TaskEngine, type EngineOptions } from '../../src/tasks/engine.ts'
import { fullDefinitionOf } from '../../src/server/definition-of.ts'
import {
  ErrorCode,
  ProtocolError,
  type ClientCapabilities,
  type JsonObject,
} from '../../src/index.ts'
import {
  createHandler,
  createServer,
  text,
  ToolError,
  type Caller,
  type ServerOptions,
  type HandlerOptions,
  type Server,
} from '../../src/presets/server.ts'
import { tasks, type Tasks } from '../../src/tasks/index.ts'
import { lastMessage, modernHeaders, modernRequest } from '../transport/streamable-http/post.ts'
import { PATIENCE } from '../patience.ts'

/** The capabilities of a client that knows tasks. */
export const KNOWS: ClientCapabilities = {
  elicitation: {},
  sampling: {},
  roots: {},
  extensions: { 'io.modelcontextprotocol/tasks': {} },
}

const yes = z.object({ yes: z.boolean() })

/** A gate at which handlers wait. */
export interface Gate {
  readonly opened: Promise<void>
  open(): void
}

/** Makes a gate. */
export function gate(): Gate {
  let open!: () => void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** A server and what its handlers did. */
export interface Fixture {
  readonly server: Server
  readonly tasks: Tasks
  /** Makes another engine that runs tasks of the server. */
  engine(options: EngineOptions): TaskEngine
  /** What ran, in order. */
  readonly ran: string[]
  readonly errors: unknown[]
  /** Where `wait` waits. */
  readonly gate: Gate
}

/** Makes the server. */
export function makeFixture(options: TasksOptions = {}, more: ServerOptions = {}): Fixture {
  const ran: string[] = []
  const errors: unknown[] = []
  const waiting = gate()
  const kept = tasks({ pollIntervalMs: 20, ...options })
  const server = createServer(
    { name: 'tasks', version: '1' },
    { onError: (error) => errors.push(error), ...more },
  )
  server.extend(kept)
  const input = z.object({ who: z.string().optional() })
  server.tool('plain', { input }, ({ who = 'world' }) => text(`Hello, ${who}!`))
  server.tool('quick', { input, task: 'optional' }, async ({ who = 'world' }) => {
    ran.push('quick')
    return text(`Hello, ${who}!`)
  })
  server.tool('wait', { task: 'required' }, async (_args, ctx) => {
    ran.push('wait')
    await ctx.progress(1, { total: 2, message: 'Half way' })
    await waiting.opened
    await ctx.progress(2, { total: 2, message: 'Done' })
    ran.push('waited')
    return text('Waited')
  })
  server.tool('for-ever', { task: 'required' }, async (_args, ctx) => {
    ran.push('for-ever')
    ctx.signal.addEventListener('abort', () => ran.push('aborted'))
    return new Promise<string>(() => {})
  })
  server.tool('fail', { task: 'required' }, () => {
    throw new ToolError('Out of stock')
  })
  server.tool('crash', { task: 'required' }, () => {
    throw new ProtocolError(ErrorCode.INTERNAL_ERROR, 'The job crashed', { why: 'disk' })
  })
  server.tool('ask', { task: 'required' }, async (_args, ctx) => {
    ran.push('ask')
    const price = await ctx.step('price', () => {
      ran.push('price')
      return 42
    })
    const answer = await ctx.elicit({ key: 'sure', message: `Pay ${price}?`, schema: yes })
    const receipt = await ctx.step('pay', () => {
      ran.push('pay')
      return 'r1'
    })
    return text(`${answer.action} ${answer.content?.yes ?? ''} ${receipt}`)
  })
  server.tool('ask-two', { task: 'required' }, async (_args, ctx) => {
    const answers = await Promise.all([
      ctx.elicit({ key: 'one', message: 'One?', schema: yes }),
      ctx.elicit({ key: 'two', message: 'Two?', schema: yes }),
    ])
    return text(answers.map(({ action }) => action).join(' '))
  })
  server.tool('checked', { task: 'required', output: z.object({ sum: z.number() }) }, () => ({
    structuredContent: { sum: 'none' as unknown as number },
  }))
  server.tool('job', { task: 'required' }, async (_args, ctx) => {
    const handle = kept.handle(ctx)
    await ctx.step('enqueue', () => void ran.push(`enqueued ${handle.taskId}`))
    return handle
  })
  const engine = (given: EngineOptions): TaskEngine =>
    new TaskEngine(fullDefinitionOf(server), given)
  return { server, tasks: kept, engine, ran, errors, gate: waiting }
}

/** The response to one request. */
export type Response = JsonObject & {
  result?: JsonObject
  error?: { code: number; message: string; data?: JsonObject }
}

/** Calls a server statelessly, as one principal. */
export interface Wire {
  call(method: string, params?: JsonObject, capabilities?: ClientCapabilities): Promise<Response>
  /** The result of a request, which must have one. */
  result(method: string, params?: JsonObject): Promise<JsonObject>
  /** Calls a tool that becomes a task; gives its id. */
  start(name: string, args?: JsonObject): Promise<string>
  /** The task once it is as wanted. */
  until(taskId: string, ...statuses: string[]): Promise<JsonObject>
  /** The same server, called by another principal. */
  as(principal: string): Wire
}

/** Makes a caller. */
export function wireTo(server: Server, options: HandlerOptions = {}, caller: Caller = {}): Wire {
  const handle = createHandler(server, options)
  return wireOver((request, as) => handle(request, { ...caller, ...as }), caller.principal)
}

/** Makes a caller over anything that answers requests. */
export function wireOver(
  handle: (request: Request, caller: Caller) => Promise<globalThis.Response>,
  principal?: string,
  url = 'http://localhost/mcp',
): Wire {
  const call: Wire['call'] = async (method, params = {}, capabilities = KNOWS) => {
    const body = JSON.stringify(modernRequest(method, params, capabilities))
    const headers = new Headers({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    })
    const repeated = modernHeaders(method, params.taskId ?? params.name)
    for (const [name, value] of Object.entries(repeated)) {
      if (value !== undefined) headers.set(name, value)
    }
    const request = new Request(url, { method: 'POST', headers, body })
    const response: unknown = await lastMessage(await handle(request, { principal }))
    return response as Response
  }
  const result: Wire['result'] = async (method, params) => {
    const response = await call(method, params)
    if (!response.result) throw new Error(`"${method}" failed: ${JSON.stringify(response.error)}`)
    return response.result
  }
  return {
    call,
    result,
    async start(name, args = {}) {
      const { resultType, taskId } = await result('tools/call', { name, arguments: args })
      if (resultType !== 'task') throw new Error(`"${name}" gave "${String(resultType)}"`)
      return String(taskId)
    },
    async until(taskId, ...statuses) {
      for (let turn = 0; turn < PATIENCE.timeout; turn++) {
        const task = await result('tasks/get', { taskId })
        if (statuses.includes(String(task.status))) return task
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      throw new Error(`The task never was ${statuses.join(' or ')}`)
    },
    as: (other) => wireOver(handle, other, url),
  }
}

/** The text of a tool's result. */
export function textOf(result: unknown): string {
  return (result as { content: { text: string }[] }).content.map(({ text: each }) => each).join('')
}
