// What this version makes of a database that the previous one wrote, as a portable suite.
import * as z from 'zod'
import type { Sql } from '../../../../src/sqlite/sql.ts'
import {
  createHandler,
  createServer,
  resumableCalls,
  statefulSessions,
  text,
  type Context,
  type Server,
} from '../../../../src/presets/server.ts'
import { SqlSessionStore, SqlTaskStore } from '../../../../src/sqlite/index.ts'
import { tasks } from '../../../../src/tasks/index.ts'
import { resume } from '../../cloudflare/events.ts'
import { equal, type Suite } from '../../harness.ts'
import { textOf, wireOver } from '../../../tasks/fixture.ts'
import { post } from '../../../transport/streamable-http/post.ts'
import {
  FINISHED_TASK,
  QUESTION_EVENT,
  SESSION_ID,
  SESSION_TABLES,
  STANDALONE_EVENT,
  TASK_TABLES,
  WAITING_TASK,
  writeTables,
} from './data.ts'

/** The server whose sessions, calls and tasks were stored. */
export function createBooking(task?: 'required'): Server {
  const server = createServer({ name: 'fixture', version: '1' })
  const input = z.object({ to: z.string() })
  const book = async ({ to }: { to: string }, ctx: Context) => {
    const first = await ctx.step('reserve', () => 'a step that ran again')
    const schema = z.object({ yes: z.boolean() })
    const answer = await ctx.elicit({ message: `Book ${to}?`, schema })
    return text(`${first}: ${answer.action}`)
  }
  server.tool('book', task ? { input, task } : { input }, book)
  server.tool('client', {}, (_args, ctx) => text(JSON.stringify(ctx.client)))
  server.resource('note://one', { name: 'one' }, () => 'text')
  return server
}

const accept = { action: 'accept', content: { yes: true } }

/** @param open Opens an empty database. */
export function sqliteSuite(open: () => Sql): Suite {
  function serve() {
    const sql = open()
    writeTables(sql, SESSION_TABLES)
    const store = new SqlSessionStore(sql)
    const server = createBooking()
    const sessions = statefulSessions({ store, calls: resumableCalls, idleMs: Infinity })
    const handle = createHandler(server, { sessions })
    const send = (message: object): Promise<Response> =>
      post(handle, { jsonrpc: '2.0', ...message }, { 'mcp-session-id': SESSION_ID })
    return { store, server, handle, send }
  }

  return {
    'A session that the previous version stored goes on with what was negotiated': async () => {
      const { store, send } = serve()
      const params = { name: 'client', arguments: {} }
      const response = await send({ id: 9, method: 'tools/call', params })
      const { result } = (await response.json()) as { result: unknown }
      equal(JSON.parse(textOf(result)), {
        info: { name: 'previous', version: '1' },
        capabilities: { elicitation: {} },
      })
      equal(store.load(SESSION_ID), {
        revision: '2025-11-25',
        clientInfo: { name: 'previous', version: '1' },
        clientCapabilities: { elicitation: {} },
        initialized: true,
        subscriptions: ['note://one'],
        logLevel: 'warning',
      })
    },

    'A client gets the events that the previous version stored, and later ones': async () => {
      const { server, handle } = serve()
      const reader = await resume(handle, SESSION_ID, STANDALONE_EVENT)
      equal((await reader.next())?.message?.method, 'notifications/tools/list_changed')
      equal((await reader.next())?.message?.params, { uri: 'note://one' })
      server.notify.resourceUpdated('note://one')
      const later = await reader.next()
      equal(later?.message?.params, { uri: 'note://one' })
      equal(later?.id, '709b932a_4')
      await reader.cancel()
    },

    'A call that the previous version stored is continued by the answer of its client':
      async () => {
        const { handle, send } = serve()
        const reader = await resume(handle, SESSION_ID, QUESTION_EVENT)
        equal((await send({ id: 1, result: accept })).status, 202)
        const answered = await reader.until('result')
        equal(answered.message?.id, 3)
        equal(textOf(answered.message?.result), 'first run to Bergen: accept')
        equal((await reader.next()) ?? null, null)
      },

    'Tasks that the previous version stored have their results, and take answers': async () => {
      const sql = open()
      writeTables(sql, TASK_TABLES)
      const server = createBooking('required')
      server.extend(tasks({ store: new SqlTaskStore(sql), pollIntervalMs: 20 }))
      const wire = wireOver(createHandler(server))
      const finished = await wire.result('tasks/get', { taskId: FINISHED_TASK })
      equal(finished.status, 'completed')
      equal(textOf(finished.result), 'done')
      const waiting = await wire.result('tasks/get', { taskId: WAITING_TASK })
      equal(waiting.status, 'input_required')
      const [key = ''] = Object.keys(waiting.inputRequests ?? {})
      const inputResponses = { [key]: accept }
      await wire.result('tasks/update', { taskId: WAITING_TASK, inputResponses })
      const { result } = await wire.until(WAITING_TASK, 'completed')
      equal(textOf(result), 'first run to Bergen: accept')
    },
  }
}
