// The page that asks the user whether a client may act for them.
import type { OAuthHelpers } from '@cloudflare/workers-oauth-provider'

/** Shows which client requests which scopes. */
export async function askConsent(request: Request, oauth: OAuthHelpers): Promise<Response> {
  const authRequest = await oauth.parseAuthRequest(request)
  const { clientName, redirectHost, scope } = await oauth.describeConsent(authRequest)
  const { handle, headers } = await oauth.beginConsent(authRequest)
  headers.set('content-type', 'text/html; charset=utf-8')
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Allow access to your notes?</title>
<h1>Allow ${escape(clientName)} to use your notes?</h1>
<p>You will be sent to <strong>${escape(redirectHost)}</strong>.</p>
<ul>${scope.map((name) => `<li>${escape(name)}</li>`).join('')}</ul>
<form method="post">
  <input type="hidden" name="handle" value="${escape(handle)}">
  <input type="hidden" name="scope" value="${escape(scope.join(' '))}">
  <label>Your name <input name="user" value="ada" required pattern="[a-z]+" title="lower-case letters"></label>
  <button>Allow</button>
  <button name="deny" value="yes" formnovalidate>Deny</button>
</form>`
  return new Response(page, { headers })
}

/**
 * Redirects the user to the client, with a code unless they denied. Any name is accepted here. A real
 * application would ask for a password, or redirect to an identity provider.
 */
export async function answerConsent(request: Request, oauth: OAuthHelpers): Promise<Response> {
  const form = new URLSearchParams(await request.clone().text())
  const handle = form.get('handle') ?? ''
  if (form.has('deny')) {
    const denied = await oauth.denyConsent(request, handle)
    denied.headers.set('location', denied.redirectTo)
    return new Response(null, { status: 302, headers: denied.headers })
  }
  const approved = await oauth.approveConsent(request, handle)
  const { redirectTo } = await oauth.completeAuthorization({
    request: approved.request,
    userId: form.get('user') ?? '',
    scope: approved.request.scope,
    metadata: {},
    props: {},
  })
  approved.headers.set('location', redirectTo)
  return new Response(null, { status: 302, headers: approved.headers })
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
