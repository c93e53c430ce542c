// Where users come back to from signing in: hands what came of it to the page that waits for it.
import { completeSignIn } from 'edgewise/browser'

if (!(await completeSignIn())) {
  document.body.textContent = 'No page is waiting for this sign-in. You may close this page.'
}
