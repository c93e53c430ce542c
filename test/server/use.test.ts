/** Errors that authors get at once for invalid servers. */
import { expect, test } from 'vitest'
import { createServer, pagesOf, uriTemplate } from '../../src/presets/server.ts'
import { openWire } from './wire.ts'

const info = { name: 's', version: '1' }

test.each([undefined, null, {}, { name: 's' }, { name: 's', version: 1 }])(
  'a server cannot present itself as %j',
  (given) => {
    expect(() => createServer(given as never)).toThrow(new TypeError(MISSING))
  },
)
const MISSING = 'A server needs a name and a version'

test.each([0, -1, 1.5, NaN, Infinity, '10'])('a page cannot have %j entries', (size) => {
  expect(() => pagesOf(size as number)).toThrow(/A page cannot have/)
})

test('a number of entries is rejected as the value of "pages"', () => {
  expect(() => createServer(info, { pages: 10 as never })).toThrow('"pages" must be pagesOf(size)')
})

test('every feature needs a function, both at registration and on update', () => {
  const server = createServer(info)
  const none = undefined as never
  expect(() => server.tool('a', {}, none)).toThrow('The tool "a" needs a function')
  expect(() => server.tool('a', (() => 'a') as never, none)).toThrow(TypeError)
  expect(() => server.prompt('a', {}, none)).toThrow('The prompt "a" needs a function')
  expect(() => server.resource('a:a', { name: 'a' }, none)).toThrow('The resource "a" needs')
  expect(() => server.resourceTemplate(uriTemplate('a:{b}'), { name: 'b' }, none)).toThrow(
    'The resource "b"',
  )
  const tool = server.tool('a', {}, () => 'a')
  expect(() => tool.update({}, none)).toThrow(TypeError)
})

test('a session watches a bounded number of resources', async () => {
  const server = createServer(info)
  server.resourceTemplate(uriTemplate('a:{n}'), { name: 'a' }, () => 'a')
  const wire = await openWire(server)
  const subscribe = (n: number) => wire.request('resources/subscribe', { uri: `a:${n}` }, `s${n}`)
  for (let n = 0; n < 1000; n++) wire.send({ jsonrpc: '2.0', id: n, ...subscription(n) })
  expect((await subscribe(1000)).error?.code).toBe(-32602)
  expect((await subscribe(5)).result, 'What is watched already').toEqual({})
  await wire.result('resources/unsubscribe', { uri: 'a:5' })
  expect((await subscribe(1001)).result).toEqual({})
  await wire.close()
})

const subscription = (n: number) => ({ method: 'resources/subscribe', params: { uri: `a:${n}` } })
