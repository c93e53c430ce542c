// A Worker that calls another one over service bindings: it answers with the results of its tests.
import { RpcTarget } from 'cloudflare:workers'
import { bindingTransport } from '../../../runtimes/cloudflare/index.ts'
import { connect, type Client } from '../../../src/presets/client.ts'
import { run } from '../harness.ts'
import { bindingEdges, type Env, type Library } from './binding-edges.ts'

const library = { bindingTransport, RpcTarget } as Library
let kept: Client | undefined

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const open = (): Promise<Client> => connect(library.bindingTransport(env.CALLEE))
    switch (new URL(request.url).pathname) {
      case '/leave':
        return leave(await open(), env)
      case '/keep':
        kept = await open()
        return new Response('kept')
      case '/use-kept': {
        const code = await kept?.callTool('whoami').catch((error: { code: string }) => error.code)
        return new Response(String(code))
      }
    }
    const lines: string[] = []
    await run(bindingEdges(env, library), (result) => lines.push(JSON.stringify(result)))
    return new Response(lines.join('\n'))
  },
}

/** Responds while a call is open. */
async function leave(client: Client, { PUBLIC }: Env): Promise<Response> {
  client.callTool('wait', { name: 'left' }).catch(() => {})
  for (;;) {
    const seen = (await (await PUBLIC.fetch('https://callee/seen')).json()) as string[]
    if (seen.includes('began left')) return new Response('left')
  }
}
