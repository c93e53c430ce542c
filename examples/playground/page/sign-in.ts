/**
 * Signs the user in to servers that want it: in a popup that opens `callback.html` at its end. What
 * was gained is kept in IndexedDB, for all tabs.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import { AuthorizationError, signIn, type SignIn } from 'edgewise/authorization'
import { indexedDbTokenStore, popup } from 'edgewise/browser'

const inPopup = popup({ redirectUri: new URL('callback.html', document.baseURI) })

/** Signs in once the user did something on the page: a link to it must not lead on to another site. */
export const auth: SignIn = signIn({
  client: { name: 'Edgewise playground' },
  tokens: indexedDbTokenStore(),
  interaction: {
    ...inPopup,
    begin(registeredUri) {
      if (navigator.userActivation.hasBeenActive) return inPopup.begin(registeredUri)
      throw new AuthorizationError('authorization', 'The server wants you to sign in')
    },
  },
})
