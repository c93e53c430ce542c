import { expect, it } from 'vitest'
import { createHandler, createServer } from '../../../src/presets/server.ts'
import { allMessages, postModern } from './post.ts'

it('A listener that reads too slowly gets the closing result after 10,000 changes that wait [M-SUB-031] [M-SUB-032]', async () => {
  const server = createServer({ name: 'slow', version: '1' })
  server.tool('any', {}, () => 'text')
  const response = await postModern(createHandler(server), 'subscriptions/listen', {
    notifications: { toolsListChanged: true },
  })
  for (let n = 0; n < 20_000; n++) server.notify.toolsListChanged()
  const messages = await allMessages(response)
  expect(messages.length).toBeGreaterThan(10_000)
  expect(messages.length).toBeLessThan(12_000)
  expect(messages.at(-1)).toHaveProperty('result')
})
