/**
 * Signs the user in to servers that require it. The sign-in uses a popup, which opens `callback.html` at the
 * end. The tokens are stored in IndexedDB, for all tabs.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import { AuthorizationError, signIn, type SignIn } from 'edgewise/authorization'
import { indexedDbTokenStore, popup } from 'edgewise/browser'

const inPopup = popup({ redirectUri: new URL('callback.html', document.baseURI) })

/** Signs in only after the user has interacted with the page, so that a link to it cannot open another site. */
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
