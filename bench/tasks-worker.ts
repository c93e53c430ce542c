/** The Worker of the tasks benchmark: the floor, and a tool that createWorker runs as a task. */
import { DurableObject } from 'cloudflare:workers'
import { createWorker } from '../runtimes/cloudflare/index.ts'
import { createServer } from '../src/presets/server.ts'
import { tasks } from '../src/tasks/index.ts'

const server = createServer({ name: 'bench', version: '1.0.0' })
server.extend(tasks())
server.tool('task', { task: 'required' }, () => 'done')
const worker = createWorker(server)

interface Call {
  id: number
  params: { taskId?: string }
}

/** Parses, writes or reads a row, and answers. */
export class Bare extends DurableObject {
  async fetch(request: Request): Promise<Response> {
    const { sql } = this.ctx.storage
    const { id, params } = (await request.json()) as Call
    if (params.taskId === undefined) {
      sql.exec('CREATE TABLE record (id TEXT PRIMARY KEY, value TEXT)')
      sql.exec(`INSERT INTO record VALUES ('one', '{"status":"working"}')`)
      return Response.json({ jsonrpc: '2.0', id, result: { taskId: request.headers.get('x-id') } })
    }
    const value = String(sql.exec("SELECT value FROM record WHERE id = 'one'").one().value)
    return Response.json({ jsonrpc: '2.0', id, result: JSON.parse(value) })
  }
}

interface Namespace {
  newUniqueId(): object
  idFromString(id: string): object
  get(id: object): { fetch(request: Request): Promise<Response> }
}

export default {
  fetch(request: Request, { BARE }: { BARE: Namespace }, ctx: never): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/mcp') return worker.fetch(request, {}, ctx)
    const mcpName = request.headers.get('mcp-name')
    const isNew = mcpName === null || mcpName === 'task'
    const id = isNew ? BARE.newUniqueId() : BARE.idFromString(mcpName)
    const headers = { ...Object.fromEntries(request.headers), 'x-id': String(id) }
    return BARE.get(id).fetch(new Request(request, { headers }))
  },
}
export const { McpSession, McpHub, McpTask } = worker.durableObjects
