/** Passes the authorization response to the page that waits for it. */
import { completeSignIn } from 'edgewise/browser'

if (!(await completeSignIn())) {
  const text = 'No page is waiting for this sign-in. You may close this window.'
  document.querySelector('p')?.replaceChildren(text)
}
