/**
 * The dialogs in which a server asks the user. Only one is open at a time.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#user-interaction-model
 */
import type { ElicitResult, InputContext } from 'edgewise/browser'
import { titleOf } from './catalog.ts'
import { relayedUrl } from './connection/relay.ts'
import { el, find, newId } from './dom.ts'

/** The texts and buttons of a dialog. */
export interface Question {
  title: string
  message: string
  content: readonly Node[]
  /** The label of the button that accepts. */
  accept: string
  /** Explains what the other buttons do. */
  note: string
  /** Whether the user can cancel the question, in addition to declining it. */
  canCancel: boolean
}

let turn: Promise<unknown> = Promise.resolve()

/** Calls `ask` after all earlier questions are answered. */
export function inTurn<T>(ask: () => Promise<T>): Promise<T> {
  const answer = turn.then(ask)
  turn = answer.catch(() => undefined)
  return answer
}

/**
 * Shows a modal dialog, and returns the user's decision. The user can put it aside, for example to look at the
 * timeline. If the signal aborts, the result is "cancel".
 */
export function showDialog(
  { title, message, content, accept, note, canCancel }: Question,
  { signal, server }: InputContext,
): Promise<ElicitResult['action']> {
  const heading = newId('dialog')
  const { url, info } = server
  const host = url ? new URL(relayedUrl(url) ?? url).host : 'the server'
  const onclick = (): void => {
    aside.remove()
    dialog.showModal()
  }
  const answer = el('button', { type: 'button', class: 'small', onclick }, 'Answer')
  const aside = el('div', { class: 'aside' }, el('p', {}, `${title}, from ${host}`), answer)
  const putAside = (): void => {
    find('connection', HTMLElement).append(aside)
    dialog.close()
    answer.focus()
  }
  const dialog = el(
    'dialog',
    { 'aria-labelledby': heading, 'aria-describedby': `${heading}-message` },
    el(
      'form',
      { method: 'dialog' },
      el('h2', { id: heading }, title),
      // The address is shown first, because a server can choose any name
      el(
        'p',
        { class: 'note' },
        'From ',
        el('strong', {}, host),
        info ? ` (“${titleOf(info)}”)` : '',
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
        el('button', { type: 'button', class: 'quiet', onclick: putAside }, 'Answer later'),
      ),
      el(
        'details',
        { class: 'help' },
        el('summary', {}, 'What do these buttons do?'),
        el('p', { class: 'note' }, note),
      ),
    ),
  )
  // Otherwise the focus would be on a button of the content, such as one that copies a text
  dialog.querySelector('input, select, textarea')?.toggleAttribute('autofocus', true)
  document.body.append(dialog)
  dialog.showModal()
  // Otherwise a button of the conversation above could have the focus
  dialog.querySelector<HTMLElement>('.fields :is(input, select, textarea)')?.focus()
  return new Promise((resolve) => {
    const end = (): void => {
      aside.remove()
      dialog.remove()
      // The return value is that of the pressed button. It is empty after the Escape key
      resolve((dialog.returnValue || 'cancel') as ElicitResult['action'])
    }
    dialog.addEventListener('close', () => {
      if (!dialog.open && !aside.isConnected) end()
    })
    const dismiss = (): void => {
      dialog.close('cancel')
      end()
    }
    signal.addEventListener('abort', dismiss, { once: true })
    if (signal.aborted) dismiss()
  })
}
