// The server that the HTTP tests run on every runtime.
import * as z from 'zod'
import { createServer, text, type Server } from '../../src/server/index.ts'

/** Makes the server. */
export function testServer(): Server {
  const server = createServer({ name: 'http', version: '1.0.0' })
  let release = (): void => {}
  let aborts = 0

  server.tool('echo', { input: z.object({ text: z.string() }) }, (args) => text(args.text))

  server.tool('repeat', { input: z.object({ length: z.number() }) }, ({ length }) =>
    text('x'.repeat(length)),
  )

  // Reports progress and then waits for `release`, or for the end of the request.
  server.tool('wait', {}, async (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => aborts++)
    const released = new Promise<void>((resolve) => (release = resolve))
    const aborted = new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
    await ctx.progress(1, { message: 'waiting' })
    await Promise.race([released, aborted])
    return text('Released')
  })

  server.tool('release', {}, () => {
    release()
    return text('Done')
  })

  // How many requests have been aborted.
  server.tool('aborts', {}, (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => aborts++)
    return text(String(aborts))
  })
  return server
}
