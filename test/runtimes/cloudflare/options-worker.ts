// Creates a Worker with the options of a request, of which each number is sent as text. Answers with the error.
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { createServer } from '../../../src/presets/server.ts'

export default {
  async fetch(request: Request): Promise<Response> {
    const options = JSON.parse(await request.text(), (_, value: unknown) =>
      typeof value === 'string' ? Number(value) : value,
    ) as Parameters<typeof createWorker>[1]
    try {
      createWorker(createServer({ name: 'options', version: '1' }), options)
      return new Response('There was no error')
    } catch (error) {
      return new Response(String(error))
    }
  },
}
