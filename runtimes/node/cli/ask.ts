/**
 * Answers what a server asks of the user, at the terminal.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import { createInterface } from 'node:readline/promises'
import type { ElicitParams, ElicitResult, JsonObject, ObjectSchema } from '../../../src/index.ts'
import type { InputContext } from '../../../src/client/index.ts'
import { interrupt } from './interrupted.ts'
import { safe, tell } from './print.ts'

type Content = NonNullable<ElicitResult['content']>
type Ask = (question: string) => Promise<string>

/**
 * Asks at the terminal. Where there is none it declines, so that scripts never hang, and where its
 * end comes instead of an answer it cancels; with `yes` it accepts forms, each field with its
 * default.
 */
export function askUser(...question: Parameters<typeof askNext>): Promise<ElicitResult> {
  const answer = before.then(() => askNext(...question))
  before = answer.catch(() => {})
  return answer
}

/** Settles when the question before has its answer: there is one terminal. */
let before: Promise<unknown> = Promise.resolve()

async function askNext(
  params: ElicitParams,
  { server, signal }: InputContext,
  yes: boolean,
): Promise<ElicitResult> {
  if (yes && params.mode !== 'url') return acceptDefaults(params.requestedSchema)
  if (!process.stdin.isTTY) {
    tell(`The server asked, and there is no terminal to answer at: ${params.message}`)
    return { action: 'decline' }
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const left = new AbortController()
  terminal.once('close', () => left.abort())
  // While it asks, the terminal gives Ctrl-C to it, and not to the program.
  terminal.once('SIGINT', () => interrupt('SIGINT'))
  const either = AbortSignal.any([signal, left.signal])
  const ask: Ask = (question) => terminal.question(safe(question), { signal: either })
  try {
    tell(`${server.info?.name ?? 'The server'} asks: ${params.message}`)
    if (params.mode !== 'url') return await fillIn(ask, params.requestedSchema)
    tell(`  ${params.url}`)
    const answer = await ask('Open this page in your browser, then go on? (y/N) ')
    return { action: /^y/i.test(answer) ? 'accept' : 'decline' }
  } catch (error) {
    if (left.signal.aborted) return { action: 'cancel' }
    throw error
  } finally {
    terminal.close()
  }
}

/** Accepts a form as it is; what has to be filled in and has no default cannot be. */
function acceptDefaults({ properties = {}, required = [] }: ObjectSchema): ElicitResult {
  const open = required.filter((name) => properties[name]?.default === undefined)
  if (open.length === 0) return { action: 'accept', content: {} }
  tell(`The form wants ${open.join(', ')}, which --yes has no value for: declined`)
  return { action: 'decline' }
}

async function fillIn(
  ask: Ask,
  { properties = {}, required = [] }: ObjectSchema,
): Promise<ElicitResult> {
  tell('  (empty for the default or nothing; "!" declines)')
  const content: Content = {}
  for (const [name, field] of Object.entries(properties)) {
    const value = await askField(ask, name, field, required.includes(name))
    if (value === DECLINED) return { action: 'decline' }
    if (value !== undefined) content[name] = value
  }
  return { action: 'accept', content }
}

const DECLINED = Symbol('declined')

async function askField(
  ask: Ask,
  name: string,
  field: JsonObject,
  required: boolean,
): Promise<Content[string] | typeof DECLINED | undefined> {
  const choices = choicesOf(field)
  const facts = [
    ...(choices ? [`one of ${choices.join(', ')}`] : [String(field.type)]),
    ...(field.default === undefined ? [] : [`default ${JSON.stringify(field.default)}`]),
    ...(required ? [] : ['optional']),
  ]
  const { title, description } = field
  if (typeof description === 'string') tell(`  ${description}`)
  const label = typeof title === 'string' ? title : name
  for (;;) {
    const text = await ask(`  ${label} (${facts.join('; ')}): `)
    if (text === '!') return DECLINED
    if (text === '' && (!required || field.default !== undefined)) return undefined
    const value = read(text, field)
    const known = !choices || [value].flat().every((one) => choices.includes(String(one)))
    if (value !== undefined && known) return value
    tell(`  That is no answer here.`)
  }
}

/** The values that a field may have, where they are counted. */
function choicesOf(field: JsonObject): string[] | undefined {
  const {
    enum: values,
    oneOf,
    anyOf,
    items,
  } = field as {
    enum?: unknown[]
    oneOf?: { const: unknown }[]
    anyOf?: { const: unknown }[]
    items?: JsonObject
  }
  if (items) return choicesOf(items)
  const titled = oneOf ?? anyOf
  return (values ?? titled?.map((each) => each.const))?.map(String)
}

function read(text: string, { type }: JsonObject): Content[string] | undefined {
  switch (type) {
    case 'number':
    case 'integer': {
      const number = Number(text)
      const fits =
        text !== '' && (type === 'integer' ? Number.isInteger(number) : !Number.isNaN(number))
      return fits ? number : undefined
    }
    case 'boolean':
      if (/^(y|yes|true)$/i.test(text)) return true
      return /^(n|no|false)$/i.test(text) ? false : undefined
    case 'array':
      return text.split(',').map((part) => part.trim())
    default:
      return text
  }
}
