/**
 * Authorizes requests. The code of signing in is loaded on demand, because most servers need none.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import type { SignIn } from 'edgewise/authorization'
import type { SignInPrompt } from '../connection/status.ts'
import { withoutSecrets } from '../secrets.ts'
import { readStored, writeStored } from '../storage.ts'
import type { StepRecorder } from './steps.ts'

/** Where the servers are stored that the user has signed in to. Their tokens are in IndexedDB. */
const KEY = 'edgewise signed in'

/** Creates the authorization of one server's requests. */
export function createAuth(
  steps: StepRecorder,
  onPrompt: (prompt: SignInPrompt | undefined) => void,
): SignIn {
  let loading: Promise<SignIn> | undefined
  const load = (): Promise<SignIn> =>
    (loading ??= import('./sign-in.ts').then(({ createSignIn }) => createSignIn(steps, onPrompt)))
  return {
    async headers(request) {
      if (!loading && !signedInServers().includes(withoutSecrets(request.server))) return {}
      return (await load()).headers(request)
    },
    async onChallenge(response, request) {
      const mayRetry = await (await load()).onChallenge(response, request)
      if (mayRetry) setSignedIn(request.server, true)
      return mayRetry
    },
    onResponse(response, request) {
      void loading?.then((auth) => auth.onResponse?.(response, request))
    },
    async signOut(server) {
      setSignedIn(String(server), false)
      await (await load()).signOut(server)
    },
  }
}

function signedInServers(): string[] {
  return readStored(KEY)?.split('\n') ?? []
}

function setSignedIn(server: string, isSignedIn: boolean): void {
  const url = withoutSecrets(server)
  const others = signedInServers().filter((each) => each !== url)
  writeStored(KEY, [...others, ...(isSignedIn ? [url] : [])].join('\n'))
}
