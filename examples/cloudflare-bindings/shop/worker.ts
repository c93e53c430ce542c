// A Worker that calls tools of another Worker over a service binding, without HTTP.
import { bindingTransport, type EntrypointBinding } from 'edgewise/cloudflare'
import { connect } from 'edgewise/client'

interface Env {
  // Or Service<typeof Travel>, if you can import the other Worker's types
  TRAVEL: EntrypointBinding
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { searchParams } = new URL(request.url)
    const city = searchParams.get('city') ?? 'Oslo'
    const budget = Number(searchParams.get('budget') ?? 100)
    const steps: string[] = []
    // The platform ties a connection to the request in which it was opened.
    await using client = await connect(bindingTransport(env.TRAVEL), {
      onElicit: ({ message }) => {
        const price = Number(/\d+/.exec(message)?.[0])
        return { action: 'accept', content: { confirm: price <= budget } }
      },
    })
    const { content } = await client.callTool(
      'book',
      { city },
      { onProgress: ({ message = '' }) => steps.push(message) },
    )
    return Response.json({ steps, content })
  },
}
