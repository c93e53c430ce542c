/** Progress of tools that may be tasks: who asks for it gets what the tool reports. */
import { describe, expect, test } from 'vitest'
import type { Client } from '../../src/presets/client.ts'
import { ErrorCode, ProtocolError, type ProgressParams } from '../../src/index.ts'
import { createGateway, createServer } from '../../src/presets/server.ts'
import { taskPolling, createTask, tasks } from '../../src/tasks/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { closing } from '../closing.ts'
import { textOf } from './fixture.ts'

const BOTH = ['2025-11-25', '2026-07-28'] as const

function counting() {
  const server = createServer({ name: 'counting', version: '1' })
  server.extend(tasks({ pollIntervalMs: 1 }))
  for (const task of ['optional', 'required'] as const) {
    server.tool(task, { task }, async (_args, ctx) => {
      for (let n = 1; n <= 3; n++) await ctx.progress(n, { total: 3 })
      return task
    })
  }
  return server
}

/** Expects what the optional tool reports, and that the required one can be called alike. */
async function expectItsProgress(client: Client): Promise<(progress: ProgressParams) => void> {
  const received: unknown[] = []
  const onProgress = ({ progress, total }: ProgressParams): void => {
    received.push([progress, total])
  }
  expect(textOf(await client.callTool('optional', {}, { onProgress }))).toBe('optional')
  expect(received).toEqual([
    [1, 3],
    [2, 3],
    [3, 3],
  ])
  expect(textOf(await client.callTool('required', {}, { onProgress }))).toBe('required')
  return onProgress
}

describe.each(BOTH)('in %s', (revision) => {
  const extensions = [taskPolling()]

  test('a tool that may be a task is called in such a way that its progress comes [P007]', async () => {
    const client = closing(await connectInMemory(counting(), { revision, extensions }))
    const onProgress = await expectItsProgress(client)
    expect(textOf(await client.callTool('optional'))).toBe('optional')
    expect('task' in (await createTask(client, 'optional', {}, { onProgress }))).toBe(true)
  })

  test('a tool that may be a task becomes one for a client that follows its tasks by onTask [P007]', async () => {
    const seen: string[] = []
    const followed = [taskPolling({ onTask: ({ status }) => seen.push(status) })]
    const client = closing(await connectInMemory(counting(), { revision, extensions: followed }))
    const onProgress = (): void => {}
    expect(textOf(await client.callTool('optional', {}, { onProgress }))).toBe('optional')
    expect(seen.at(-1)).toBe('completed')
  })

  test.each(BOTH)('a gateway to a server of %s loses none of it [P007]', async (behind) => {
    const gateway = await createGateway((options) =>
      connectInMemory(counting(), { ...options, revision: behind, extensions }),
    )
    const { server } = closing(gateway)
    const client = closing(await connectInMemory(server, { revision }))
    await expectItsProgress(client)
  })
})

test('a call that fails for want of another capability than tasks is not made twice [P007]', async () => {
  const server = createServer({ name: 'asking', version: '1' })
  server.extend(tasks())
  let runs = 0
  server.tool('ask', { task: 'optional' }, async (_args, ctx) => {
    runs++
    return (await ctx.roots()).length.toString()
  })
  const client = closing(await connectInMemory(server, { extensions: [taskPolling()] }))
  const call = client.callTool('ask', {}, { onProgress: () => {} })
  await expect(call).rejects.toMatchObject({ code: -32021 })
  expect(runs).toBe(1)
})

test('a call that fails with a code of the tool itself is not made twice [P007]', async () => {
  const server = createServer({ name: 'odd', version: '1' })
  server.extend(tasks())
  let runs = 0
  server.tool('odd', { task: 'optional' }, () => {
    runs++
    throw new ProtocolError(ErrorCode.METHOD_NOT_FOUND, 'No such thing')
  })
  const client = closing(await connectInMemory(server, { extensions: [taskPolling()] }))
  const call = client.callTool('odd', {}, { onProgress: () => {} })
  await expect(call).rejects.toMatchObject({ code: ErrorCode.METHOD_NOT_FOUND })
  expect(runs).toBe(1)
})
