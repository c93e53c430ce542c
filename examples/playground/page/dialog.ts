/**
 * The dialogs in which a server asks the person something, one after the other.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#user-interaction-model
 */
import type { ElicitResult, InputContext } from 'edgewise/browser'
import { titleOf } from './catalog.ts'
import { el, newId } from './dom.ts'

/** What a dialog says and offers. */
export interface Question {
  title: string
  message: string
  content: readonly Node[]
  /** What the button says that accepts. */
  accept: string
  /** What the other buttons do. */
  note: string
  /** Whether the user can cancel the question, in addition to declining it. */
  canCancel: boolean
}

let turn: Promise<unknown> = Promise.resolve()

/** Shows what asks once earlier questions are answered. */
export function inTurn<T>(ask: () => Promise<T>): Promise<T> {
  const answer = turn.then(ask)
  turn = answer.catch(() => undefined)
  return answer
}

/** Shows a modal dialog, and gives the person's decision. An abort closes it as "cancel". */
export function showDialog(
  { title, message, content, accept, note, canCancel }: Question,
  { signal, server }: InputContext,
): Promise<ElicitResult['action']> {
  const heading = newId('dialog')
  const { url, info } = server
  const dialog = el(
    'dialog',
    { 'aria-labelledby': heading, 'aria-describedby': `${heading}-message` },
    el(
      'form',
      { method: 'dialog' },
      el('h2', { id: heading }, title),
      // What a server calls itself proves nothing: its address comes first.
      el(
        'p',
        { class: 'note' },
        el('strong', {}, url ? new URL(url).host : 'A server'),
        info ? `, which calls itself “${titleOf(info)}”` : '',
      ),
      el('p', { id: `${heading}-message`, class: 'question' }, message),
      ...content,
      el(
        'footer',
        {},
        el('button', { class: 'primary', value: 'accept' }, accept),
        el('button', { value: 'decline', formnovalidate: true }, 'Decline'),
        canCancel &&
          el('button', { class: 'quiet', value: 'cancel', formnovalidate: true }, 'Cancel'),
      ),
      el('p', { class: 'note' }, note),
    ),
  )
  const dismiss = (): void => dialog.close('cancel')
  signal.addEventListener('abort', dismiss, { once: true })
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      // The value of a button; none when it was left by the Escape key
      resolve((dialog.returnValue || 'cancel') as ElicitResult['action'])
    })
    if (signal.aborted) dismiss()
  })
}
