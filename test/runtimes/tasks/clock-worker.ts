// The Worker of tasks, whose alarms can be rung, whose clock can be set, and whose objects can hang.
import worker, { McpTask as Task } from './worker.ts'

/** By how much the clock of this isolate is ahead, in milliseconds. */
let aheadMs = 0
const { now } = Date
Date.now = () => now() + aheadMs

/** Whether the objects of tasks answer nothing. */
let hang = false
const { prototype }: { prototype: object } = Task
for (const name of ['create', 'read', 'answer', 'cancel', 'fetch']) {
  const method = Reflect.get(prototype, name) as (...args: unknown[]) => unknown
  Reflect.set(prototype, name, async function (this: unknown, ...args: unknown[]) {
    while (hang) await new Promise((resolve) => setTimeout(resolve, 20))
    return Reflect.apply(method, this, args)
  })
}

interface Bindings {
  MCP_TASK: {
    idFromString(id: string): unknown
    get(id: unknown): { ring(): Promise<void>; keys(): Promise<string[]> }
  }
}

export default {
  async fetch(...args: Parameters<typeof worker.fetch>): Promise<Response> {
    const { pathname, searchParams } = new URL(args[0].url)
    const { MCP_TASK: tasks } = args[1] as object as Bindings
    const task = (): ReturnType<Bindings['MCP_TASK']['get']> =>
      tasks.get(tasks.idFromString(String(searchParams.get('task'))))
    switch (pathname) {
      case '/clock-is-ahead':
        aheadMs = Number(searchParams.get('ms'))
        return new Response()
      case '/tasks-hang':
        hang = searchParams.get('while') === 'true'
        Reflect.set(globalThis, 'impatient', hang)
        return new Response()
      case '/ring':
        await task().ring()
        return new Response()
      case '/keys':
        return Response.json(await task().keys())
    }
    return worker.fetch(...args)
  },
}

export class McpTask extends Task {
  ring(): Promise<void> {
    return this.alarm()
  }

  async keys(): Promise<string[]> {
    return [...(await this.ctx.storage.list()).keys()]
  }
}
export { Journal, McpHub, McpSession } from './worker.ts'
