/** The HTTP request of an entry as a command of curl. It is loaded on demand. */
import { curl } from '../copy-as/curl.ts'
import { redact, variableOf } from '../secrets.ts'
import type { Entry } from './entry.ts'
import { isSecretInMessage, REDACTED } from './redact.ts'

/** Returns the command that sends the request of an entry again. Secrets are variables. Empty without a request. */
export function entryCurl({ parts }: Entry): string {
  const request = parts.findLast((part) => part.request)?.request
  if (!request) return ''
  const message = parts.find(({ isMain, direction }) => isMain && direction === 'sent')
  const headers = Object.entries(request.headers)
  const isRedacted = ([, value]: [string, string]): boolean =>
    value.replace(/^\w+ /, '') === REDACTED
  const variables = headers.filter(isRedacted).map(([name, value]) => {
    const variable = name === 'authorization' ? 'TOKEN' : variableOf(name)
    return [name, value.replace(REDACTED, `\${${variable}}`)]
  })
  return curl({
    ...request,
    headers: Object.fromEntries(headers.filter((header) => !isRedacted(header))),
    variables: Object.fromEntries(variables),
    ...(message?.body && {
      body: JSON.stringify(redact(message.body.json, '', isSecretInMessage, variableOf)),
    }),
  })
}
