// A server is found by its card, on every runtime.
import {
  aiCatalog,
  cardCache,
  cardHandler,
  chooseRemote,
  compareCard,
  discover,
  serverCard,
} from 'edgewise/cards'
import { connect } from 'edgewise/client'
import { createHandler } from 'edgewise/server'
import { equal, ok, rejection, type Suite } from './harness.ts'
import { server } from './server.ts'

const ENDPOINT = 'https://mcp.portable.example/mcp'
const CATALOG = 'https://portable.example/.well-known/ai-catalog.json'
const card = serverCard(server, {
  name: 'example.portable/portable',
  description: 'One of each thing.',
  remotes: [ENDPOINT],
})
const handle = createHandler(server)
const cards = cardHandler(card, { catalog: aiCatalog([card]), cacheControl: '' })
const requests: string[] = []

async function fetch(url: string, init: RequestInit): Promise<Response> {
  const request = new Request(url, init)
  requests.push(`${request.method} ${url} ${request.headers.get('if-none-match') !== null}`)
  return (await cards(request)) ?? handle(request)
}

export const cardSuite: Suite = {
  'A server is discovered from a domain, connected to, and agrees with its card': async () => {
    const { cards: found, failures } = await discover('portable.example', { fetch })
    equal([found.map((each) => each.card), failures], [[card], []])
    const [first] = found
    ok(first, 'no card')
    const { url, headers } = await chooseRemote(first)
    await using client = await connect(url, { headers, fetch })
    equal(compareCard(first.card, client), [])
    equal([first.catalogHost, first.cardHost], ['portable.example', 'mcp.portable.example'])
  },

  'Cards are revalidated by their tags': async () => {
    const cache = cardCache()
    for (let count = 0; count < 2; count++) await discover('portable.example', { fetch, cache })
    equal(requests.slice(-2), [`GET ${CATALOG} true`, `GET ${ENDPOINT}/server-card true`])
  },

  'Private addresses are refused before any request': async () => {
    const { length } = requests
    for (const host of ['localhost', '127.0.0.1', '[::1]', '169.254.169.254']) {
      equal((await rejection(discover(host, { fetch }))).code, 'DENIED')
    }
    equal(requests.length, length)
  },
}
