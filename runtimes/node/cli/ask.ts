/**
 * Answers elicitation requests at the terminal.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import { createInterface } from 'node:readline/promises'
import { semaphore } from '#internal/patterns'
import {
  formFields,
  type FormField,
  type FormValue,
  type InputContext,
} from '../../../src/presets/client.ts'
import type { ElicitParams, ElicitResult } from '../../../src/index.ts'
import { interrupt } from './interrupted.ts'
import { indented, oneLine, safe, printNotice } from './print.ts'

type Ask = (question: string) => Promise<string>

/** Runs one elicitation at a time, because there is only one terminal. */
const oneAtATime = semaphore(1)

/**
 * Asks the user at the terminal. If there is no terminal, the request is declined, so that scripts never
 * hang. If standard input ends, the request is cancelled. If `yes` is true, forms are accepted with the
 * defaults of their fields.
 */
export function askUser(...args: Parameters<typeof askAtTerminal>): Promise<ElicitResult> {
  return oneAtATime(() => askAtTerminal(...args))
}

async function askAtTerminal(
  params: ElicitParams,
  { server, signal }: InputContext,
  yes: boolean,
): Promise<ElicitResult> {
  if (yes && params.mode !== 'url') return acceptDefaults(formFields(params.requestedSchema))
  if (!process.stdin.isTTY) {
    printNotice(`The server requested input, but there is no terminal: ${params.message}`)
    return { action: 'decline' }
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const inputEnd = new AbortController()
  terminal.once('close', () => inputEnd.abort())
  // During a question the terminal handles Ctrl-C itself, so no signal reaches the process
  terminal.once('SIGINT', () => interrupt('SIGINT'))
  const anySignal = AbortSignal.any([signal, inputEnd.signal])
  const ask: Ask = (question) => terminal.question(oneLine(question), { signal: anySignal })
  try {
    const name = oneLine(server.info?.name ?? 'The server')
    process.stderr.write(`${name} asks: ${safe(indented(params.message))}\n`)
    if (params.mode !== 'url') return await fillInForm(ask, formFields(params.requestedSchema))
    printNotice(`  ${params.url}`)
    const answer = await ask('Open this page in your browser, then go on? (y/N) ')
    return { action: /^y/i.test(answer) ? 'accept' : 'decline' }
  } catch (error) {
    if (inputEnd.signal.aborted) return { action: 'cancel' }
    throw error
  } finally {
    terminal.close()
  }
}

/** Accepts a form with its defaults. Declines it if a required field has no default. */
function acceptDefaults(fields: readonly FormField[]): ElicitResult {
  const unanswered = fields.filter((field) => field.required && field.default === undefined)
  if (unanswered.length === 0) return { action: 'accept', content: {} }
  const names = unanswered.map(({ name }) => name).join(', ')
  printNotice(`The form requires ${names}, which --yes has no value for: declined`)
  return { action: 'decline' }
}

async function fillInForm(ask: Ask, fields: readonly FormField[]): Promise<ElicitResult> {
  printNotice('  (Enter uses the default, or skips the field; "!" declines)')
  const content: { [name: string]: FormValue } = {}
  for (const field of fields) {
    const value = await askField(ask, field)
    if (value === DECLINED) return { action: 'decline' }
    if (value !== undefined) content[field.name] = value
  }
  return { action: 'accept', content }
}

/** What {@link askField} returns if the user declines the form. */
const DECLINED = Symbol('declined')

async function askField(
  ask: Ask,
  field: FormField,
): Promise<FormValue | typeof DECLINED | undefined> {
  const choices = field.options.map(({ value }) => value)
  const hints = [
    choices.length > 0 ? `one of ${choices.join(', ')}` : field.kind,
    ...(field.default === undefined ? [] : [`default ${JSON.stringify(field.default)}`]),
    ...(field.required ? [] : ['optional']),
  ]
  if (field.description !== undefined) printNotice(`  ${field.description}`)
  for (;;) {
    const text = await ask(`  ${field.label} (${hints.join('; ')}): `)
    if (text === '!') return DECLINED
    const mayBeEmpty = !field.required || field.default !== undefined
    if (text === '' && mayBeEmpty) return undefined
    const value = parseAnswer(text, field)
    // `value` may be a single value, or a list of values
    const isAllowed =
      choices.length === 0 || [value].flat().every((item) => choices.includes(`${item}`))
    if (value !== undefined && isAllowed) return value
    printNotice(`  That is not a valid answer`)
  }
}

/** Parses the answer to a field. Returns `undefined` if the answer is invalid. */
function parseAnswer(text: string, { kind }: FormField): FormValue | undefined {
  switch (kind) {
    case 'number':
    case 'integer': {
      const number = Number(text)
      const isOfKind = kind === 'integer' ? Number.isInteger(number) : !Number.isNaN(number)
      return text !== '' && isOfKind ? number : undefined
    }
    case 'boolean':
      if (/^(y|yes|true)$/i.test(text)) return true
      return /^(n|no|false)$/i.test(text) ? false : undefined
    case 'choices':
      return text.split(',').map((part) => part.trim())
    default:
      return text
  }
}
