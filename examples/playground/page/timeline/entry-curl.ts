/** The HTTP request of an entry as a command of curl. It is loaded on demand. */
import { curl } from '../copy-as/curl.ts'
import type { Entry } from './entry.ts'
import { REDACTED } from './redact.ts'

/** Returns the command that sends the request of an entry again. Secrets are variables. Empty without a request. */
export function entryCurl({ parts }: Entry): string {
  const request = parts.findLast((part) => part.request)?.request
  if (!request) return ''
  const message = parts.find(({ isMain, direction }) => isMain && direction === 'sent')
  const headers = Object.entries(request.headers).map(([name, value]) => {
    return [name, value.replace(REDACTED, `\${${variableOf(name)}}`)]
  })
  return curl({
    ...request,
    headers: Object.fromEntries(headers),
    ...(message?.body && { body: JSON.stringify(message.body.json) }),
  })
}

function variableOf(header: string): string {
  return header === 'authorization' ? 'TOKEN' : header.toUpperCase().replaceAll(/\W/g, '_')
}
