/** Ends a visit to an authorization server: hands what came of it to the page that waits. */
import { completeSignIn } from 'edgewise/browser'

if (!(await completeSignIn())) {
  const text = 'No page is waiting for this sign-in. You may close this window.'
  document.querySelector('p')?.replaceChildren(text)
}
