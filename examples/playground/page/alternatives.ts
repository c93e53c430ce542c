/**
 * Shows one of several forms of the same value, such as a table or its JSON.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/button/
 */
import { el } from './dom.ts'

/** One form of a value. */
export interface Alternative {
  /** The label of its button. */
  label: string
  /** Creates the element when it is shown for the first time. */
  make: () => HTMLElement | Promise<HTMLElement>
}

/** The buttons that choose, and the element that shows the chosen form. */
export interface Alternatives {
  buttons: HTMLElement
  body: HTMLElement
}

/**
 * Creates the buttons and the element.
 *
 * @param name What the buttons choose, for screen readers.
 * @param chosen The index of the form that is shown first.
 */
export function alternatives(
  name: string,
  choices: readonly Alternative[],
  chosen = 0,
  onChoose?: (index: number) => void,
): Alternatives {
  const body = el('div', { class: 'chosen' })
  const made: (Promise<HTMLElement> | undefined)[] = []
  let current = -1
  const buttons = choices.map(({ label }, index) =>
    el(
      'button',
      {
        type: 'button',
        onclick() {
          show(index)
          onChoose?.(index)
        },
      },
      label,
    ),
  )

  function show(index: number): void {
    current = index
    for (const [each, button] of buttons.entries()) button.ariaPressed = String(each === index)
    const choice = choices[index]
    if (!choice) return
    const found = made[index] ?? choice.make()
    if (found instanceof HTMLElement) {
      made[index] = Promise.resolve(found)
      body.replaceChildren(found)
      return
    }
    made[index] = found
    const place = (element: HTMLElement): void => {
      if (current === index) body.replaceChildren(element)
    }
    found.then(place, (error: unknown) => place(el('p', { class: 'note' }, String(error))))
  }
  show(chosen)
  return {
    buttons: el('div', { class: 'segments', role: 'group', 'aria-label': name }, ...buttons),
    body,
  }
}

/** Creates one element with the buttons above the chosen form. */
export function switchable(
  name: string,
  choices: readonly Alternative[],
  chosen = 0,
  onChoose?: (index: number) => void,
): HTMLElement {
  const { buttons, body } = alternatives(name, choices, chosen, onChoose)
  return el('div', { class: 'switchable' }, buttons, body)
}
