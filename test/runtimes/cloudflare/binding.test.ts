import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WorkerOptions } from 'miniflare'
import {
  lastMessage,
  modernHeaders,
  modernRequest,
  post,
} from '../../transport/streamable-http/post.ts'
import { testElsewhere } from '../elsewhere.ts'
import { bindingEdges, type Env, type Library } from './binding-edges.ts'
import { bundleWorker, moduleOf, startWorker, withTasks, type Workerd } from './workerd.ts'

const callee = (entrypoint: string, props: Record<string, unknown> = {}) => ({
  ...{ name: 'callee', entrypoint, props },
})

/** Starts the calling Worker, and the called one beside it. */
async function startPair(date: string): Promise<Workerd> {
  const [calling, called] = await Promise.all(
    ['binding-caller.ts', 'binding-callee.ts'].map(bundleWorker),
  )
  const workers: WorkerOptions[] = [
    {
      name: 'caller',
      ...moduleOf(calling!, date),
      bindings: { DATE: date },
      serviceBindings: {
        CALLEE: callee('Callee', { principal: 'shop', auth: { scopes: ['read'] } }),
        ANONYMOUS: callee('Callee', { principal: 7, auth: 'all' }),
        OPS: callee('Guarded', { team: 'ops' }),
        STRANGER: callee('Guarded', { principal: 'ops' }),
        UNKNOWN: callee('Guarded', { team: 'none' }),
        BRIEF: callee('Guarded', { team: 'brief' }),
        PROTECTED: callee('Protected', { auth: { scopes: ['read'] } }),
        BOOKING: callee('Protected', { auth: { scopes: ['book'] } }),
        STATELESS: callee('Stateless', { principal: 'shop' }),
        BROKEN: callee('Broken'),
        PUBLIC: 'callee',
        SELF: 'caller',
      },
    },
    { name: 'callee', ...moduleOf(called!, date), ...withTasks, bindings: { GREETING: 'Hello' } },
  ]
  return startWorker(calling!, { workers })
}

// The first date that is supported, and one since which stubs in parameters are duplicated
describe.each(['2024-10-14', '2026-04-26'])('Workers of %s that call Workers', (date) => {
  const titles = Object.keys(bindingEdges({ DATE: date } as Env, {} as Library))
  testElsewhere(async (line) => {
    const workerd = await startPair(date)
    const printed = await (await workerd.get('/')).text()
    for (const each of printed.split('\n')) line(each)
    await workerd.stop()
  }, titles)
})

describe('A request from outside', () => {
  let workerd: Workerd

  beforeAll(async () => {
    const called = await bundleWorker('binding-callee.ts')
    const socket = { host: '127.0.0.1', port: 0 }
    workerd = await startWorker(called, {
      ...withTasks,
      // Not even a socket of its own makes the entrypoint answer
      unsafeDirectSockets: [socket, { ...socket, entrypoint: 'Callee' }],
    })
  })
  afterAll(() => workerd.stop())

  it('never reaches the entrypoint', async () => {
    const url = await workerd.entrypointUrl('Callee')
    const body = JSON.stringify(modernRequest('tools/list'))
    const requests: RequestInit[] = [
      { method: 'GET' },
      { method: 'OPTIONS' },
      { method: 'POST', body, headers: { 'content-type': 'application/json' } },
    ]
    for (const request of requests) {
      const response = await fetch(new URL('/mcp', url), request)
      expect(response.status).toBe(500)
      expect(await response.text()).not.toContain('jsonrpc')
    }
  })

  it('cannot pretend to be a principal', async () => {
    const props = { principal: 'shop', auth: { scopes: ['book'] } }
    const headers = {
      'edgewise-caller': encodeURIComponent(JSON.stringify(props)),
      'cf-worker': 'caller',
      'cf-props': JSON.stringify(props),
    }
    const params = { name: 'whoami', arguments: {}, props, principal: 'shop' }
    const response = await post(workerd.handle, modernRequest('tools/call', params), {
      ...modernHeaders('tools/call', 'whoami'),
      ...headers,
    })
    const { result } = await lastMessage(response)
    const { text } = (result as { content: { text: string }[] }).content[0]!
    expect(Object.keys(JSON.parse(text) as object)).not.toContain('principal')
    expect(Object.keys(JSON.parse(text) as object)).not.toContain('auth')
  })
})
