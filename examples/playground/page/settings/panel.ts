/**
 * The dialog with the settings of one server. Loaded on demand.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/dialog-modal/
 */
import { el, newId, type Child } from '../dom.ts'
import { levels } from '../timeline/levels.ts'
import type { Workspace } from '../workspace.ts'
import { formatHeaders, parseHeaders, parseRoots, parseTimeout, type Parsed } from './parse.ts'
import type { Settings } from './settings.ts'

/** Opens the settings of a workspace. The dialog applies them, and reconnects if that is necessary. */
export function showSettings(workspace: Workspace): void {
  const { url, headers, token, timeoutMs, logLevel, roots } = workspace.settings.get()
  const heading = newId('settings')
  const headersField = text('Headers', formatHeaders(headers), {
    note: 'One in each line, such as “X-Api-Key: …”. They are sent with every request.',
    parse: parseHeaders,
  })
  // Otherwise the list of fields would have the focus if it scrolls
  const tokenInput = el('input', {
    type: 'password',
    value: token,
    autocomplete: 'off',
    autofocus: true,
  })
  const timeoutInput = el('input', {
    value: timeoutMs ?? '',
    inputmode: 'numeric',
    autocomplete: 'off',
  })
  const timeoutField = checked('Timeout in milliseconds', timeoutInput, {
    note: 'How long a request may take without progress. The default is 60000.',
    parse: parseTimeout,
  })
  const levelSelect = el(
    'select',
    {},
    ...['off', ...levels].map((level) =>
      el('option', { value: level, selected: level === logLevel }, level),
    ),
  )
  const rootsField = text('Roots', roots.join('\n'), {
    note: 'The directories that the server may work in: one file URI in each line.',
    parse: parseRoots,
  })

  const summary = el('p', { class: 'problem', role: 'status' })
  const form = el(
    'form',
    { method: 'dialog', novalidate: true },
    el('h2', { id: heading }, 'Settings'),
    el('p', { class: 'note' }, el('code', {}, url || 'No server yet')),
    el(
      'div',
      { class: 'settings' },
      field('Bearer token', tokenInput, 'Sent instead of signing in.'),
      headersField.element,
      el(
        'p',
        { class: 'note secret' },
        'The token and the headers are stored until you close this browser tab. They are never part of links, saved servers or exported timelines.',
      ),
      timeoutField.element,
      field('Minimum level of log messages', levelSelect),
      rootsField.element,
    ),
    el(
      'footer',
      {},
      el('button', { class: 'primary', value: 'apply' }, 'Apply'),
      el('button', { value: 'cancel', formnovalidate: true }, 'Cancel'),
      summary,
    ),
  )
  const dialog = el('dialog', { 'aria-labelledby': heading, class: 'settings-dialog' }, form)
  form.addEventListener('submit', (event) => {
    if (event.submitter?.getAttribute('value') !== 'apply') return
    const changes = read()
    if (changes) workspace.change(changes)
    else event.preventDefault()
  })
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()

  /** The settings of the form; `undefined` if some are invalid, which are marked. */
  function read(): Partial<Settings> | undefined {
    const parsed = {
      headers: headersField.read(),
      timeoutMs: timeoutField.read(),
      roots: rootsField.read(),
    }
    const invalid = form.querySelectorAll<HTMLElement>('[aria-invalid]')
    summary.textContent = invalid.length > 1 ? `${invalid.length} fields need attention` : ''
    if (invalid[0]) {
      invalid[0].focus()
      // With what is wrong, which is below it
      invalid[0].parentElement?.scrollIntoView({ block: 'nearest' })
      return undefined
    }
    return {
      headers: parsed.headers ?? [],
      timeoutMs: parsed.timeoutMs,
      roots: parsed.roots ?? [],
      token: tokenInput.value.trim(),
      logLevel: levelSelect.value as Settings['logLevel'],
    }
  }
}

/** A field whose text is parsed. */
interface ParsedField<T> {
  readonly element: HTMLElement
  /** Returns the value. An invalid text is marked, and gives `undefined`. */
  read(): T | undefined
}

/** The explanation of a field, and how its text is parsed. */
interface FieldFacts<T> {
  readonly note: string
  parse(text: string): Parsed<T>
}

function text<T>(label: string, value: string, facts: FieldFacts<T>): ParsedField<T> {
  const area = el('textarea', { rows: 3, class: 'code', spellcheck: 'false' }, value)
  return checked(label, area, facts)
}

function checked<T>(
  label: string,
  input: HTMLInputElement | HTMLTextAreaElement,
  { note, parse }: FieldFacts<T>,
): ParsedField<T> {
  const id = newId('problem')
  const problem = el('p', { id, class: 'problem', hidden: true })
  return {
    element: field(label, input, note, problem),
    read() {
      const parsed = parse(input.value)
      const isValid = 'value' in parsed
      problem.hidden = isValid
      problem.textContent = isValid ? '' : parsed.problem
      input.ariaInvalid = isValid ? null : 'true'
      if (isValid) input.removeAttribute('aria-describedby')
      else input.setAttribute('aria-describedby', id)
      return isValid ? parsed.value : undefined
    },
  }
}

function field(label: string, input: HTMLElement, note?: string, problem?: Child): HTMLElement {
  const id = newId('setting')
  input.id = id
  return el(
    'div',
    { class: 'field' },
    el('label', { for: id, class: 'label' }, label),
    note !== undefined && el('p', { class: 'note' }, note),
    input,
    problem,
  )
}
