// Functions of an application whose rejections would end a program.
import { expect, it } from 'vitest'
import { runLines } from '../../process.ts'

it('hooks that return rejecting promises end neither a server nor a client [S012]', async () => {
  const lines: string[] = []
  await runLines(['tsx', 'test/runtimes/patterns/rejecting-hooks.ts'], (line) => lines.push(line))
  expect(lines.at(-1)?.split(' ')).toEqual([
    'client.onError',
    'connection.subscribe',
    'notify.subscribe',
    'observe',
    'onCreate',
    'onError',
    'onLog',
    'onNotification',
    'onProgress',
    'onPromptsChanged',
    'onResourceUpdated',
    'onResourcesChanged',
    'onTask',
    'onToolsChanged',
  ])
})
