/**
 * Shows the server's questions to the user.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import type {
  ElicitFormParams,
  ElicitParams,
  ElicitResult,
  ElicitUrlParams,
  InputContext,
} from 'edgewise/browser'
import { inTurn, showDialog } from './dialog.ts'
import { el } from './dom.ts'
import { schemaForm } from './form/form.ts'

const note =
  '“Decline” answers that you refuse. “Cancel” answers that you close the question without a decision. The server decides how to continue.'

/** Asks the user, after all earlier questions are answered. */
export function ask(params: ElicitParams, context: InputContext): Promise<ElicitResult> {
  return inTurn(() =>
    params.mode === 'url' ? askToOpen(params, context) : askForForm(params, context),
  )
}

async function askForForm(
  { message, requestedSchema }: ElicitFormParams,
  context: InputContext,
): Promise<ElicitResult> {
  const form = schemaForm(requestedSchema)
  const title = 'The server requests input'
  const content = [form.element]
  const action = await showDialog(
    { title, message, content, accept: 'Send', note, canCancel: true },
    context,
  )
  if (action !== 'accept') return { action }
  return { action, content: form.read() as NonNullable<ElicitResult['content']> }
}

async function askToOpen(params: ElicitUrlParams, context: InputContext): Promise<ElicitResult> {
  const url = URL.canParse(params.url) ? new URL(params.url) : undefined
  // Other schemes could run code in this page or open other programs
  if (!url || !/^https?:$/.test(url.protocol)) return { action: 'decline' }
  const { origin, host, href } = url
  // User information before the host may look like another host, so only the actual host is emphasized
  const start = url.username || url.password ? href.indexOf('@') + 1 : origin.length - host.length
  const address = el(
    'p',
    { class: 'url' },
    href.slice(0, start),
    el('strong', {}, host),
    href.slice(start + host.length),
  )
  const warning = el('p', { class: 'note' }, 'Open the page only if you trust this site.')
  const action = await showDialog(
    {
      title: 'The server requests that you open a page',
      message: params.message,
      content: [address, warning],
      accept: 'Open page',
      note,
      canCancel: true,
    },
    context,
  )
  if (action === 'accept') open(url, '_blank', 'noopener,noreferrer')
  return { action }
}
