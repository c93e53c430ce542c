/**
 * Idle streams on workerd: how long a change takes to reach all of them, compared to a bare hub of
 * sockets that does the same.
 */
import { type Bench, ratioTable } from './bench.ts'
import { compare, type Contender } from './compare.ts'
import { costOf } from './cpu.ts'
import { start, type Running } from './objects-host.ts'
import { handshake, template } from './requests.ts'

const OPENED_AT_ONCE = 8

/** Reads an event stream until the next event with data. */
function reader(response: Response): () => Promise<void> {
  if (!response.ok || !response.body) throw new Error(`A stream was refused: ${response.status}`)
  const chunks = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return async () => {
    while (!text.includes('data: {')) {
      const { value, done } = await chunks.read()
      if (done) throw new Error('A stream ended')
      text += value
    }
    text = text.slice(text.indexOf('data: {') + 7)
  }
}

type OpenStream = (workerd: Running) => Promise<() => Promise<void>>

const bare: OpenStream = async (workerd) => reader(await fetch(workerd.urlOf('/bare-listen')))

const listener: OpenStream = async (workerd) => {
  const notifications = { toolsListChanged: true }
  const { headers, body } = template('subscriptions/listen', { notifications }, undefined)
  const url = workerd.urlOf('/mcp')
  const next = reader(await fetch(url, { method: 'POST', headers, body: body(1) }))
  await next()
  return next
}

const session: OpenStream = async (workerd) => {
  const url = workerd.urlOf('/mcp')
  const { sessionId = '' } = await handshake((request) => fetch(request), url)
  const headers = { accept: 'text/event-stream', 'mcp-session-id': sessionId }
  return reader(await fetch(url, { headers }))
}

async function contender(
  name: string,
  note: string,
  count: number,
  open: OpenStream,
  notify: string,
): Promise<Contender> {
  const workerd = await start()
  const streams: (() => Promise<void>)[] = []
  const lane = async (): Promise<void> => {
    while (streams.length < count) streams.push(await open(workerd))
  }
  await Promise.all(Array.from({ length: OPENED_AT_ONCE }, lane))
  const round: Contender['round'] = () =>
    costOf(workerd.pid, async () => {
      await fetch(workerd.urlOf(notify))
      await Promise.all(streams.map((next) => next()))
      return streams.length
    })
  await round()
  return { name, note, round, close: () => workerd.stop() }
}

export const bench: Bench = {
  title: 'One change sent to idle streams on workerd (µs for each of them)',
  tables: async ({ scale }) => {
    const count = Math.ceil(200 * scale)
    const rows = await compare(
      async () => [
        await contender('bare hub', `${count} sockets`, count, bare, '/bare-notify'),
        await contender('edgewise', `${count} listeners`, count, listener, '/notify'),
        await contender('edgewise', `${count} sessions`, count, session, '/notify'),
      ],
      { generations: 1, rounds: 8 },
    )
    return [ratioTable('idle streams', 'none is set', rows)]
  },
}
