// Data that commit 57fd68c stored or gave to clients, which a later version reads.
import { describe, expect, it } from 'vitest'
import { createHandler, sealedSessions } from '../../../../src/presets/server.ts'
import { runLines } from '../../../process.ts'
import { onWorkerd, testElsewhere } from '../../elsewhere.ts'
import { textOf } from '../../../tasks/fixture.ts'
import { lastMessage, post, postModern } from '../../../transport/streamable-http/post.ts'
import { objectSuite } from './object-suite.ts'
import { createBooking, sqliteSuite } from './sqlite-suite.ts'
import { REQUEST_STATE, SEALED_SESSION_ID, SECRET } from './data.ts'

const never = (): never => {
  throw new Error('Only the titles count here')
}

describe('SQLite', () => {
  const command = ['bun', '--no-install', 'test/runtimes/session/previous-version/bun.ts']
  testElsewhere((line) => runLines(command, line), Object.keys(sqliteSuite(never)))
})

describe('A Durable Object', () => {
  testElsewhere(onWorkerd('../session/previous-version/worker.ts'), Object.keys(objectSuite(never)))
})

describe('A client of the previous version', () => {
  it('goes on with the session that is sealed into its id', async () => {
    const sessions = sealedSessions({ secrets: [SECRET] })
    const handle = createHandler(createBooking(), { sessions })
    const params = { name: 'client', arguments: {} }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const response = await post(handle, call, { 'mcp-session-id': SEALED_SESSION_ID })
    const { result } = await lastMessage(response)
    expect(JSON.parse(textOf(result))).toEqual({
      info: { name: 'previous', version: '1' },
      capabilities: { elicitation: {} },
    })
  })

  it('continues a call with the state that it was given', async () => {
    const handle = createHandler(createBooking(), { secrets: [SECRET] })
    const params = {
      name: 'book',
      arguments: { to: 'Bergen' },
      inputResponses: { 'elicitation/create#1': { action: 'accept', content: { yes: true } } },
      requestState: REQUEST_STATE,
    }
    const { result } = await lastMessage(
      await postModern(handle, 'tools/call', params, { elicitation: {} }),
    )
    expect(textOf(result)).toBe('first run to Bergen: accept')
  })
})
