// Users return to this page after they have signed in. It passes the result to the page that waits.
import { completeSignIn } from 'edgewise/browser'

if (!(await completeSignIn())) {
  document.body.textContent = 'No page is waiting for this sign-in. You may close this page.'
}
