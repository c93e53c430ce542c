/** A server with events as a program on stdio: it emits an event each time a tool is called. */
import { serveStdio } from '../../../runtimes/node/index.ts'
import { createEventsServer } from './events.ts'

await serveStdio(createEventsServer())
