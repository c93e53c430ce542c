/**
 * An extension as a package of another author would have it: it imports only entry points. A chat whose
 * messages are delivered to the server, which counts them.
 */
import { clientExtension, middleware, type ClientExtension } from '../../src/presets/client.ts'
import { serverExtension, type ServerExtension } from '../../src/presets/server.ts'

const ID = 'com.example/chat'

/** The extension for servers. */
export function chatServer(): ServerExtension {
  let typing = 0
  return serverExtension({
    id: ID,
    methods: { 'chat/say': { handle: ({ text }) => ({ echo: text, typing }) } },
    notifications: { 'notifications/chat/typing': () => void typing++ },
    attach(server) {
      server.tool('rooms', {}, () => 'one, two')
      server.use('chat/say', async (_request, _ctx, next) => ({ ...(await next()), seen: true }))
    },
  })
}

/** The extension for clients. */
export function chatClient(log: string[]): ClientExtension {
  return clientExtension({
    id: ID,
    attach(client) {
      client.use(
        'chat/say',
        middleware(({ method, params }, _ctx, next) => {
          log.push(method)
          return next({ ...params, text: `${String(params.text)}!` })
        }),
      )
    },
  })
}
