/**
 * Shows at a field what is wrong with its value, in place of the browser's bubbles.
 *
 * @see https://www.w3.org/WAI/WCAG22/Techniques/aria/ARIA21
 */
import { el, newId } from '../dom.ts'

/** The controls that the browser validates. */
type Checked = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** Shows the browser's errors at the fields inside of an element. The first invalid control gets the focus. */
export function showValidity(container: HTMLElement): void {
  let isFocused = false
  container.addEventListener(
    'invalid',
    (event) => {
      const control = checkedControl(event.target)
      const field = control?.closest<HTMLElement>('.field')
      if (!control || !field) return
      // Otherwise the browser would show a bubble
      event.preventDefault()
      showFieldError(field, messageOf(control))
      if (isFocused) return
      isFocused = true
      control.focus()
      setTimeout(() => (isFocused = false))
    },
    true,
  )
  const update = ({ target }: Event): void => {
    const control = checkedControl(target)
    const field = control?.closest<HTMLElement>('.field')
    if (!control || !field || !errorOf(field)) return
    if (control.validity.valid) clearFieldError(field)
    else showFieldError(field, messageOf(control))
  }
  container.addEventListener('input', update)
  container.addEventListener('change', update)
}

/** Shows an error at a field, in place of an earlier one. */
export function showFieldError(field: HTMLElement, message: string): void {
  const error = errorOf(field) ?? el('p', { class: 'error', id: newId('error') })
  error.textContent = message
  const control = controlOf(field)
  // Below the control, but above the fields inside of the field
  if (control === field) field.append(error)
  else control.after(error)
  control.setAttribute('aria-invalid', 'true')
  const notes = (control.getAttribute('aria-describedby') ?? '').split(' ')
  const ids = new Set([...notes.filter((id) => id !== ''), error.id])
  control.setAttribute('aria-describedby', [...ids].join(' '))
}

/** Moves the focus to the first field with an error, unless the user has left the form. */
export function focusFirstError(container: HTMLElement): void {
  const { activeElement } = document
  const isHere =
    activeElement === document.body || container.closest('form')?.contains(activeElement)
  if (isHere) container.querySelector<HTMLElement>('[aria-invalid]')?.focus()
}

/** Removes all errors inside of an element. */
export function clearFieldErrors(container: HTMLElement): void {
  for (const field of container.querySelectorAll<HTMLElement>('.field')) clearFieldError(field)
}

function clearFieldError(field: HTMLElement): void {
  const error = errorOf(field)
  if (!error) return
  error.remove()
  const control = controlOf(field)
  control.removeAttribute('aria-invalid')
  const notes = (control.getAttribute('aria-describedby') ?? '').split(' ')
  const others = notes.filter((id) => id !== error.id)
  if (others.length > 0) control.setAttribute('aria-describedby', others.join(' '))
  else control.removeAttribute('aria-describedby')
}

/** The error of a field itself, and not of a field inside of it. */
function errorOf(field: HTMLElement): HTMLElement | undefined {
  const errors = [...field.querySelectorAll<HTMLElement>('.error')]
  return errors.find((error) => error.closest('.field') === field)
}

/** The control of a field; the field itself if it has several. */
function controlOf(field: HTMLElement): HTMLElement {
  if (field instanceof HTMLFieldSetElement) return field
  return field.querySelector<HTMLElement>('input, select, textarea') ?? field
}

function checkedControl(target: EventTarget | null): Checked | undefined {
  const isChecked =
    target instanceof HTMLInputElement ||
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement
  return isChecked ? target : undefined
}

/** What is wrong with a value, in a sentence that says what to enter. */
function messageOf(control: Checked): string {
  const { validity, validationMessage } = control
  if (validity.valueMissing) {
    return control instanceof HTMLSelectElement ? 'Choose a value' : 'Enter a value'
  }
  if (validity.patternMismatch && control instanceof HTMLInputElement) {
    return `Enter a text that matches ${control.dataset['pattern'] ?? 'the pattern'}`
  }
  return validationMessage
}
