/**
 * Forked by the benchmark of events: a server with an event type and webhooks in Postgres, which emits
 * events in order until it is killed.
 */
import { events, webhooks } from 'edgewise/events'
import { createPostgresStorage } from 'edgewise/postgres'
import { createServer, createHandler } from 'edgewise/server'
import postgres from 'postgres'
import { subscription } from './events-receiver.ts'

const [databaseUrl = '', receiver = '', next = '0', total = '0', pauseMs = '0', urls = ''] =
  process.argv.slice(2)
const sql = postgres(databaseUrl, { fetch_types: false, onnotice: () => {} })
const server = createServer({ name: 'bench', version: '1.0.0' })
const builds = events({
  storage: createPostgresStorage(sql).eventStorage(),
  webhooks: webhooks({
    // Instead of TLS
    fetch: (url, { method, headers, body, signal }) => {
      const { pathname } = new URL(url)
      return fetch(receiver + pathname, { method, headers, body: body ?? null, signal })
    },
    isVerified: () => true,
  }),
})
const finished = builds.type('build.finished', { description: 'A build has ended' })
server.extend(builds)

const handle = createHandler(server)
for (const url of urls.split(' ').filter(Boolean)) {
  const { headers, body } = subscription(url)
  const request = new Request('http://localhost/mcp', { method: 'POST', headers, body })
  const response = await handle(request, { principal: 'bench' })
  const answer = await response.text()
  if (!answer.includes('"result"')) throw new Error(answer)
}
for (let number = Number(next); number < Number(total); number++) {
  await finished.emit({ number }, { eventId: `evt_${number}` })
  process.send?.(number)
  if (Number(pauseMs) > 0 && number % 100 === 0) {
    await new Promise((resolve) => setTimeout(resolve, Number(pauseMs)))
  }
}
process.send?.('emitted')
