// The server that the HTTP tests run on every runtime.
import * as z from 'zod'
import { createServer, text, type Server } from '../../../../src/presets/server.ts'

/** Makes the server. */
export function testServer(): Server {
  const server = createServer({ name: 'http', version: '1.0.0' })
  let release = (): void => {}
  let begun = 0
  let aborts = 0

  server.tool('echo', { input: z.object({ text: z.string() }) }, (args) => text(args.text))

  server.tool('repeat', { input: z.object({ length: z.number() }) }, ({ length }) =>
    text('x'.repeat(length)),
  )

  // Reports progress and then waits for `release`, or for the end of the request.
  server.tool('wait', {}, async (_args, ctx) => {
    begun++
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

  // Asks twice at once and waits for the answers one by one, in functions of its own.
  server.tool('askApart', {}, async (_args, ctx) => {
    const ask = async (message: string): Promise<string> => {
      const { action } = await ctx.elicit({ message, schema: z.object({}) })
      return `${message} ${action}`
    }
    const first = ask('First')
    const second = ask('Second')
    return text(`${await first}, ${await second}`)
  })

  // Rejects where no code awaits it.
  server.tool('reject', {}, () => {
    void Promise.reject(new Error('Not awaited'))
    return text('Done')
  })

  // How often "wait" has begun.
  server.tool('begun', {}, () => text(String(begun)))

  // How many requests have been aborted.
  server.tool('aborts', {}, (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => aborts++)
    return text(String(aborts))
  })
  return server
}
