/**
 * Buttons that copy a text to the clipboard.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Clipboard/writeText
 */
import { announce } from './announce.ts'
import { el } from './dom.ts'
import { icon } from './icon.ts'

/** How long a button shows that it has copied, in milliseconds. */
const SHOWN_MS = 1_500

/**
 * Creates a button that copies a text.
 *
 * @param label What is copied, for screen readers and as a tooltip: `Copy JSON`.
 * @param text Returns the text when the button is pressed.
 * @param caption The text of the button. Without it, the button has only an icon.
 */
export function copyButton(label: string, text: () => string, caption?: string): HTMLButtonElement {
  const button = el(
    'button',
    {
      type: 'button',
      class: caption === undefined ? 'quiet icon copy' : 'small copy',
      'aria-label': label,
      title: label,
    },
    icon('copy'),
    caption,
  )
  let timer: ReturnType<typeof setTimeout> | undefined
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(text())
    announce(isCopied ? 'Copied' : 'The browser did not allow copying')
    button.firstElementChild?.replaceWith(icon(isCopied ? 'check' : 'alert'))
    clearTimeout(timer)
    timer = setTimeout(() => button.firstElementChild?.replaceWith(icon('copy')), SHOWN_MS)
  }
  button.addEventListener('click', () => void copy())
  return button
}

/** Copies a text. Returns whether the browser allowed it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // The clipboard API exists only in secure contexts, which a page at an address of the local network is not
    return copySelection(text)
  }
}

function copySelection(text: string): boolean {
  const { activeElement } = document
  const area = el('textarea', { class: 'hidden', 'aria-hidden': 'true', tabindex: -1 })
  area.value = text
  // Inside of an open dialog, because the rest of the page is inert
  const parent = document.querySelector('dialog[open]') ?? document.body
  parent.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (activeElement instanceof HTMLElement) activeElement.focus()
  return isCopied
}
