/**
 * `edgewise events`: lists the event types of a server, or prints its events.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { SdkError, type JsonObject } from '../../../src/index.ts'
import { eventInbox, eventSubscriptions } from '../../../src/events/client/index.ts'
import { listen } from '../listen.ts'
import { toNodeListener } from '../listener.ts'
import type { Invocation } from './arguments.ts'
import { lifetime } from './interrupted.ts'
import { open } from './open.ts'
import { print, printJson, printNotice, printRows, problemPrinter } from './print.ts'
import { UsageError } from './usage.ts'
import { readObject, readValues } from './values.ts'

type EventSubscriptions = ReturnType<typeof eventSubscriptions>
type EventSubscriptionsOptions = Parameters<typeof eventSubscriptions>[1]
type EventInbox = ReturnType<typeof eventInbox>

/** The address on which a receiver of webhooks listens. A tunnel or a proxy makes it public. */
const HOST = '127.0.0.1'

/** Lists the event types, or prints the events of one type until interrupted. */
export async function events(invocation: Invocation): Promise<number> {
  const { commandArguments, options } = invocation
  const [name, ...words] = commandArguments
  const { webhook, port, args } = options
  if (port !== undefined && webhook === undefined)
    throw new UsageError('"--port" needs "--webhook"')
  if (name === undefined && (webhook !== undefined || args !== undefined)) {
    throw new UsageError('Specify an event type')
  }
  const argsOption = await readObject(args)
  const { end, untilEnd } = lifetime()
  await using client = await open(invocation, {}, end)
  const onError = problemPrinter(options.verbose)
  if (name === undefined) {
    await listTypes(eventSubscriptions(client, { onError }), options.json)
    return 0
  }
  const receiver = webhook === undefined ? undefined : await startReceiver(webhook, port, onError)
  try {
    const subscriptions = eventSubscriptions(client, {
      ...printingHooks(onError),
      ...(receiver && { receiver: receiver.inbox }),
    })
    const schema = words.length > 0 ? await schemaOf(subscriptions, name) : {}
    const values = readValues(words, schema, argsOption)
    const modeOption = receiver ? { mode: 'webhook' as const } : {}
    const printing = printEvents(subscriptions.follow(name, values, modeOption), options.json)
    printing.then(() => end(new SdkError('CLOSED', 'The events have ended')), end)
    await untilEnd()
    await subscriptions.stopAll()
    return 0
  } finally {
    receiver?.close()
  }
}

async function listTypes(subscriptions: EventSubscriptions, isJson: boolean): Promise<void> {
  const types = await subscriptions.types()
  if (isJson) return printJson(types)
  if (types.length === 0) printNotice('There are no event types')
  printRows(
    types.map(({ name, description, delivery }) => {
      const modes = delivery.join(', ')
      return [name, description === undefined ? modes : `${description} (${modes})`]
    }),
  )
}

/** The schema of the arguments of an event type; empty if the server has no such type. */
async function schemaOf(subscriptions: EventSubscriptions, name: string): Promise<JsonObject> {
  const type = (await subscriptions.types()).find((listed) => listed.name === name)
  return typeof type?.inputSchema === 'object' ? type.inputSchema : {}
}

async function printEvents(
  received: ReturnType<EventSubscriptions['follow']>,
  isJson: boolean,
): Promise<void> {
  for await (const event of received) {
    const { timestamp, name, data } = event
    print(isJson ? JSON.stringify(event) : `${timestamp} ${name} ${JSON.stringify(data)}`)
  }
}

/** The hooks of subscriptions, which print problems to standard error. */
function printingHooks(onError: (error: unknown) => void): EventSubscriptionsOptions {
  return {
    onError,
    onGap: () => printNotice('Events were skipped: the server no longer has them'),
    onStatus: ({ active, lastError }) =>
      printNotice(
        `${active ? '' : 'Deliveries were suspended. '}Last error: ${lastError ?? 'none'}`,
      ),
  }
}

/** Starts a server that receives webhooks on a port of this machine. */
async function startReceiver(
  publicUrl: string,
  port = 0,
  onError: (error: unknown) => void,
): Promise<{ inbox: EventInbox; close: () => void }> {
  const inbox = eventInbox(publicUrl, { onError })
  const { createServer } = await import('node:http')
  const http = createServer(toNodeListener((request) => inbox.receive(request)))
  const boundPort = await listen(http, port, HOST)
  printNotice(
    `Receiving on http://${HOST}:${boundPort}, to which ${publicUrl} must forward requests`,
  )
  return {
    inbox,
    close() {
      http.closeAllConnections()
      http.close()
    },
  }
}
