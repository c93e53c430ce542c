// Data that commit 57fd68c stored or gave to clients, which a later version reads.
import { describe, expect, it } from 'vitest'
import {
  mayMatch,
  readFilter,
  readSessionStream,
} from '../../../../runtimes/cloudflare/subscription-filter.ts'
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

describe('A Worker of the previous version', () => {
  it('names the stream of a session and the filter of a listener by the same headers', () => {
    const session =
      '%7B%22session%22%3A%22a1%22%2C%22primed%22%3Atrue%2C%22after%22%3A%220123abcd_7%22%7D'
    const filter =
      '%7B%22tools%22%3Atrue%2C%22prompts%22%3Afalse%2C%22lists%22%3Afalse%2C%22resources%22%3A%5B%22note%3A%2F%2Fone%22%5D%7D'
    const headers = new Headers({ 'edgewise-session': session, 'edgewise-wish': filter })
    expect(readSessionStream(headers)).toEqual({
      session: 'a1',
      primed: true,
      after: '0123abcd_7',
    })
    const attachment = readFilter(headers)
    const updated = { method: 'notifications/resources/updated', uri: 'note://one' } as const
    expect(mayMatch(attachment, updated)).toBe(true)
    expect(mayMatch(attachment, { method: 'notifications/tools/list_changed' })).toBe(true)
    expect(mayMatch(attachment, { method: 'notifications/prompts/list_changed' })).toBe(false)
  })
})

describe('A client of the previous version', () => {
  it('continues with the session that is sealed into its id', async () => {
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
