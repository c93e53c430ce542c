/** A page that connects on a click or when the user returns from signing in, and shows tools or the error. */
import {
  connect,
  indexedDbKeyPair,
  indexedDbTokenStore,
  popup,
  returnedFromSignIn,
  type Client,
} from '../../../../runtimes/browser/index.ts'
import { signIn } from '../../../../src/authorization/index.ts'

const { searchParams } = new URL(location.href)
const auth = signIn({
  client: { name: 'Page' },
  interaction: popup({
    redirectUri: searchParams.has('same') ? '/?same' : '/callback',
    ...(searchParams.has('redirect') && { mode: 'redirect' }),
    leavePage: !searchParams.has('stay'),
  }),
  tokens: indexedDbTokenStore(),
})
let client: Client | undefined

async function listTools(): Promise<string> {
  client ??= await connect('https://mcp.example/mcp', { auth, revision: '2026-07-28' })
  const tools = await client.listAllTools({ cache: 'reload' })
  return tools.map(({ name }) => name).join()
}

/** Says on the page what came of it. */
function show(work: () => Promise<string>): void {
  document.body.dataset.shown = 'waiting'
  work().then(
    (text) => (document.body.dataset.shown = text),
    (error: unknown) => (document.body.dataset.shown = String(error)),
  )
}

document.querySelector('button')?.addEventListener('click', () => show(listTools))
if (returnedFromSignIn()) show(listTools)

/** What tests find out of the page. */
export interface PageFacts {
  keyPair(): Promise<{ extractable: boolean; x: string | undefined; takeable: boolean }>
}

const facts: PageFacts = {
  async keyPair() {
    const { publicKey, privateKey } = await indexedDbKeyPair()
    const { x } = await crypto.subtle.exportKey('jwk', publicKey)
    const taken = crypto.subtle.exportKey('jwk', privateKey)
    const takeable = await taken.then(
      () => true,
      () => false,
    )
    return { extractable: privateKey.extractable, x, takeable }
  },
}
Object.assign(globalThis, facts)
