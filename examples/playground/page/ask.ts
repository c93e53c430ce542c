/**
 * Puts the server's questions to the person, in dialogs, one after the other.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import type {
  ElicitFormParams,
  ElicitParams,
  ElicitResult,
  ElicitUrlParams,
} from 'edgewise/browser'
import { el, newId } from './dom.ts'
import { schemaForm } from './form/form.ts'

let turn: Promise<unknown> = Promise.resolve()

/** Asks, once earlier questions are answered. An abort closes the dialog as "cancel". */
export function ask(params: ElicitParams, signal: AbortSignal | undefined): Promise<ElicitResult> {
  const answer = turn.then(() =>
    params.mode === 'url' ? askToOpen(params, signal) : askForForm(params, signal),
  )
  turn = answer.catch(() => undefined)
  return answer
}

async function askForForm(params: ElicitFormParams, signal?: AbortSignal): Promise<ElicitResult> {
  const form = schemaForm(params.requestedSchema)
  const action = await showDialog('The server asks', params.message, [form.element], 'Send', signal)
  if (action !== 'accept') return { action }
  return { action, content: form.read() as NonNullable<ElicitResult['content']> }
}

async function askToOpen(params: ElicitUrlParams, signal?: AbortSignal): Promise<ElicitResult> {
  const url = URL.canParse(params.url) ? new URL(params.url) : undefined
  // Other schemes could run code in this page or open other programs.
  if (!url || !/^https?:$/.test(url.protocol)) return { action: 'decline' }
  const address = el(
    'p',
    { class: 'url' },
    `${url.protocol}//`,
    el('strong', {}, url.host),
    `${url.pathname}${url.search}${url.hash}`,
  )
  const note = el('p', { class: 'note' }, 'Opens in a new tab. Go on only if you trust this site.')
  const title = 'The server asks you to open a page'
  const action = await showDialog(title, params.message, [address, note], 'Open page', signal)
  if (action === 'accept') open(url, '_blank', 'noopener,noreferrer')
  return { action }
}

/** Shows a modal dialog with the three answers that the protocol knows. */
function showDialog(
  title: string,
  message: string,
  content: readonly Node[],
  acceptLabel: string,
  signal: AbortSignal | undefined,
): Promise<ElicitResult['action']> {
  const heading = newId('dialog')
  const dialog = el(
    'dialog',
    { 'aria-labelledby': heading, 'aria-describedby': `${heading}-message` },
    el(
      'form',
      { method: 'dialog' },
      el('h2', { id: heading }, title),
      el('p', { id: `${heading}-message`, class: 'question' }, message),
      ...content,
      el(
        'footer',
        {},
        el('button', { class: 'primary', value: 'accept' }, acceptLabel),
        el('button', { value: 'decline', formnovalidate: true }, 'Decline'),
        el('button', { class: 'quiet', value: 'cancel', formnovalidate: true }, 'Cancel'),
      ),
      el(
        'p',
        { class: 'note' },
        '“Decline” tells the server that you refuse, “Cancel” that you leave this unanswered. The request goes on either way.',
      ),
    ),
  )
  const dismiss = (): void => dialog.close('cancel')
  signal?.addEventListener('abort', dismiss, { once: true })
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      signal?.removeEventListener('abort', dismiss)
      dialog.remove()
      const { returnValue } = dialog
      resolve(returnValue === 'accept' || returnValue === 'decline' ? returnValue : 'cancel')
    })
    if (signal?.aborted) dismiss()
  })
}
