// The server that the stdio tests run as a program, on every runtime.
import * as z from 'zod'
import { createServer, text, type Server } from '../../../../src/presets/server.ts'

/** What a runtime has for the tests. */
interface Host {
  /** Writes to stdout past the transport, as a library that knows nothing of it would. */
  print: () => void
}

/** Makes the server. */
export function testServer({ print }: Host): Server {
  const server = createServer({ name: 'stdio', version: '1.0.0' })
  const note = (line: string): void => console.error(line)

  server.tool('echo', { input: z.object({ text: z.string() }) }, (args) => text(args.text))

  server.tool('repeat', { input: z.object({ length: z.number() }) }, ({ length }) =>
    text('é'.repeat(length / 2)),
  )

  server.tool('print', {}, () => {
    print()
    console.log('log')
    console.info('info')
    console.debug('debug')
    console.table([{ a: 1 }])
    console.dir({ dir: 1 })
    console.group('group')
    console.count()
    console.groupEnd()
    console.time('timer')
    console.timeEnd('timer')
    console.trace('trace')
    return text('Printed')
  })

  // Waits for the end of the request, and says on stderr how it came.
  server.tool('wait', {}, async (_args, ctx) => {
    note('waiting')
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
    note('cancelled')
    return text('Too late')
  })

  // A handler that ignores its abort signal.
  server.tool('hang', {}, () => {
    setInterval(() => {}, 1000)
    note('hanging')
    return new Promise<never>(() => {})
  })

  // Logs after some time, or else once its call is aborted.
  server.tool('talk', { input: z.object({ waitMs: z.number().optional() }) }, async (args, ctx) => {
    const { waitMs } = args
    note('talking')
    await new Promise((resolve) => {
      if (waitMs === undefined) ctx.signal.addEventListener('abort', resolve)
      else setTimeout(resolve, waitMs)
    })
    for (let i = 0; i < 3; i++) await ctx.log('error', `line ${i}`)
    console.log('printed')
    console.error('printed')
    return text('x'.repeat(1 << 20))
  })

  server.tool('ask', {}, async (_args, ctx) => {
    const answer = await ctx.elicit({
      message: 'Sure?',
      schema: z.object({ sure: z.boolean() }),
    })
    return text(answer.action)
  })
  return server
}
