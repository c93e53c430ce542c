/**
 * A form for the arguments of prompts and the variables of resource templates. It shows the server's
 * suggestions while the user types.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
 */
import type { JsonObject, PromptArgument } from 'edgewise/browser'
import { el, newId } from '../dom.ts'
import { isHiddenName } from '../secrets.ts'
import { revealButton } from './controls.ts'
import { clearFieldErrors, focusFirstError, showFieldError, showValidity } from './field-errors.ts'
import type { Issue } from './issues.ts'
import { labelled } from './label.ts'

/** The values so far, by name. */
export interface Texts {
  [name: string]: string
}

/** Requests completions for an argument from the server. */
export type Suggest = (
  argument: { name: string; value: string },
  others: Texts,
) => Promise<string[]>

/** How long to wait after the last keystroke before asking the server. */
const PAUSE_MS = 150

/** A form for texts. */
export interface ArgumentForm {
  element: HTMLElement
  /** The names of the fields. */
  names: readonly string[]
  read(): Texts
  /** Replaces the values. Values that are no texts are converted. */
  fill(values: JsonObject): void
  /** Shows issues at their fields, in place of earlier ones, and moves the focus to the first one. */
  showIssues(issues: readonly Issue[]): void
}

/** Converts arguments to texts, as prompts and templates take them. */
export function textsOf(values: JsonObject): Texts {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, textOf(value)]))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Creates an input for each argument. */
export function argumentForm(
  named: readonly PromptArgument[],
  suggest: Suggest | undefined,
): ArgumentForm {
  const inputs = named.map((argument) => ({
    argument,
    input: el('input', {
      type: isHiddenName(argument.name) ? 'password' : 'text',
      required: argument.required === true,
      autocomplete: 'off',
    }),
  }))

  function read(): Texts {
    const filled = inputs.filter(({ input }) => input.value !== '')
    return Object.fromEntries(filled.map(({ argument, input }) => [argument.name, input.value]))
  }

  const fields = inputs.map(({ argument, input }) => {
    const list =
      suggest &&
      suggestions(input, () => {
        const { [argument.name]: value = '', ...others } = read()
        return suggest({ name: argument.name, value }, others)
      })
    const facts = {
      id: newId('field'),
      title: argument.title ?? argument.name,
      description: argument.description,
      required: argument.required === true,
    }
    const after = input.type === 'password' ? revealButton(input) : undefined
    const { element } = labelled(facts, { control: input, after, read: () => input.value })
    if (list) element.append(list)
    return element
  })
  const element = el('div', { class: 'fields' }, ...fields)
  showValidity(element)
  return {
    element,
    names: named.map(({ name }) => name),
    read,
    fill(values) {
      const texts = new Map(Object.entries(textsOf(values)))
      for (const { argument, input } of inputs) input.value = texts.get(argument.name) ?? ''
    },
    showIssues(issues) {
      clearFieldErrors(element)
      for (const { path, message } of issues) {
        const field = fields[inputs.findIndex(({ argument }) => argument.name === path[0])]
        if (field) showFieldError(field, message)
      }
      focusFirstError(element)
    },
  }
}

/** Creates the list of suggestions of an input, and updates it while the user types. */
function suggestions(input: HTMLInputElement, ask: () => Promise<string[]>): HTMLDataListElement {
  const list = el('datalist', { id: newId('suggestions') })
  input.setAttribute('list', list.id)
  let requestCount = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  async function update(): Promise<void> {
    const requestNumber = ++requestCount
    // If the server has no suggestions, the input works without them
    const values = await ask().catch(() => [])
    if (requestNumber !== requestCount) return
    list.replaceChildren(...values.map((value) => el('option', { value })))
  }
  const scheduleUpdate = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => void update(), PAUSE_MS)
  }
  input.addEventListener('input', scheduleUpdate)
  input.addEventListener('focus', scheduleUpdate)
  return list
}
