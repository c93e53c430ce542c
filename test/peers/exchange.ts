/**
 * The conversation that each pair of client and server has in the peer tests.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'

import type { PeerClient } from './contract.ts'
import { booked, counted, greeting, memo, question, reviewOf } from './contract.ts'

/** Who meets whom. */
export interface Meeting {
  /** The revision that the pair must agree on. */
  readonly revision: string
  /** The name by which the server must present itself. */
  readonly server: string
  readonly connect: () => Promise<PeerClient>
  /** Whether the server offers tools only, and does not ask its clients. */
  readonly toolsOnly?: boolean
}

/** Defines the tests of one pair; call it inside a `describe` that names the two. */
export function exchange({ revision, server, connect, toolsOnly }: Meeting): void {
  let client: PeerClient

  beforeAll(async () => {
    client = await connect()
  })
  afterAll(() => client?.[Symbol.asyncDispose]())

  test('they agree on a revision and the server presents itself', () => {
    expect(client.revision).toBe(revision)
    expect(client.serverName).toBe(server)
  })

  test('tools are listed', async () => {
    const tools = ['greet', 'count', ...(toolsOnly ? [] : ['book'])]
    expect(new Set(await client.listTools())).toEqual(new Set(tools))
  })

  test('a tool is called', async () => {
    expect((await client.callTool('greet', { name: 'Ada' })).text).toBe(greeting('Ada'))
  })

  test('progress arrives in order, before the result', async () => {
    let pauseMs = client.dropsLateProgress ? 10 : 0
    let result = await client.callTool('count', { to: 3, pauseMs })
    while (client.dropsLateProgress && result.progress.length < 3 && pauseMs < 2000) {
      pauseMs *= 4
      result = await client.callTool('count', { to: 3, pauseMs })
    }
    expect(result).toEqual({ text: counted(3), progress: [1, 2, 3] })
  })

  if (!toolsOnly) {
    test('resources and prompts are listed', async () => {
      expect(await client.listResources()).toEqual([memo.uri])
      expect(await client.listPrompts()).toEqual(['review'])
    })

    test('a resource is read', async () => {
      expect(await client.readResource(memo.uri)).toBe(memo.text)
    })

    test('a prompt is got', async () => {
      expect(await client.getPrompt('review', { topic: 'streams' })).toBe(reviewOf('streams'))
    })

    test('an elicitation is answered and the tool goes on with the answer', async () => {
      expect((await client.callTool('book', { city: 'Oslo' })).text).toBe(booked('Oslo', true))
      expect(client.asked).toEqual([question('Oslo')])
    })
  }

  test('calls made at the same time get their own answers', async () => {
    const names = ['Ada', 'Grace', 'Barbara', 'Radia']
    const answers = await Promise.all(names.map((name) => client.callTool('greet', { name })))
    expect(answers.map(({ text }) => text)).toEqual(names.map(greeting))
  })
}
