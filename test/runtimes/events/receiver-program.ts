// Receives webhooks for the subscriptions that another process stores in a file, and prints their events.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeListener } from '../../../runtimes/node/index.ts'
import { createEventReceiver } from '../../../src/events/client/index.ts'
import type { StoredSubscription } from '../../../src/events/client/subscription-store.ts'

const file = process.argv[2] ?? ''

const receive = createEventReceiver({
  secretFor({ url: { pathname } }) {
    const records = JSON.parse(readFileSync(file, 'utf8')) as StoredSubscription[]
    const webhook = records
      .map((record) => record.webhook)
      .find((stored) => stored && new URL(stored.url).pathname === pathname)
    if (webhook?.id !== undefined) return webhook.secret
    return webhook && { secrets: [webhook.secret], state: 'pending' }
  },
  onEvent: ({ eventId }) => console.log(`event ${eventId}`),
})
const http = createServer(toNodeListener((request) => receive(request)))
http.listen(0, '127.0.0.1', () => console.log(`port ${(http.address() as AddressInfo).port}`))
