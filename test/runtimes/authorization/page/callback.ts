/** The page that the authorization server sends the user to. */
import { completeSignIn } from '../../../../runtimes/browser/index.ts'

completeSignIn().then(
  (done) => (document.body.dataset.shown = done ? 'done' : 'no page is waiting'),
  (error: unknown) => (document.body.dataset.shown = String(error)),
)
