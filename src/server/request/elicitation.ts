/**
 * Asking the user: by a form, or by a URL to open.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import { restoreContent } from '../../protocol/degrade-form.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import {
  describeIssues,
  jsonSchemaOf,
  type InferInput,
  type InferOutput,
  type StandardSchema,
} from '../../protocol/standard-schema.ts'
import type { ElicitResult, ObjectSchema } from '../../protocol/types.ts'
import { serverFacts } from '../../protocol/server-facts.ts'
import { noteElicitation } from '../../session/url-elicitations.ts'
import { askClient, SECRET, type Asker } from './ask.ts'
import { isUnanswered } from './ask-errors.ts'

/** A form to fill in. */
export interface FormQuestion<S extends StandardSchema | ObjectSchema> {
  /** Tells the user what is asked and why. */
  message: string
  /**
   * An object of strings, numbers, booleans and enums: a Standard Schema, whose output the content
   * will be, or a JSON Schema as it goes over the wire, whose content is not checked. Fields with
   * members of their own do not compile.
   */
  schema: S & FlatForm<S>
  /** Names the question across replays; by default its method and number. */
  key?: string
}

/** What keeps a schema with nested fields from being taken; nothing of any other. */
export type FlatForm<S extends StandardSchema | ObjectSchema> = S extends StandardSchema
  ? [NestedFields<InferInput<S>>] extends [never]
    ? unknown
    : { 'A form is flat: make the members of these fields its own': NestedFields<InferInput<S>> }
  : unknown

/** The names of fields that are neither text, numbers, booleans nor choices. */
type NestedFields<Input> = {
  [Name in keyof Input]-?: unknown extends Input[Name]
    ? never
    : NonNullable<Input[Name]> extends string | number | boolean | readonly string[]
      ? never
      : Name
}[keyof Input]

/** A URL to open, for what must not pass through the client. */
export interface UrlQuestion {
  /** Tells the user why. */
  message: string
  url: string
  /** Names the question across replays; by default its method and number. */
  key?: string
}

/** Whether the user agreed to open a URL; not whether what it asks for is done. */
export interface UrlAnswer {
  action: 'accept' | 'decline' | 'cancel'
  /** What to announce when it is done, with `server.notify.elicitationComplete`; 2025-11-25 only. */
  elicitationId: string | undefined
}

/** What the user did with a form. Content is there only when it was accepted, and is checked. */
export type ElicitAnswer<S extends StandardSchema | ObjectSchema> =
  | {
      action: 'accept'
      content: S extends StandardSchema ? InferOutput<S> : NonNullable<ElicitResult['content']>
    }
  | { action: 'decline' | 'cancel'; content?: undefined }

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel']
const forms = new WeakMap<StandardSchema, ObjectSchema>()

/** Asks by a form, as `Context` says. */
export async function elicitForm<S extends StandardSchema | ObjectSchema>(
  asker: Asker,
  { message, schema, key }: FormQuestion<S>,
): Promise<ElicitAnswer<S>> {
  const given: StandardSchema | ObjectSchema = schema
  const form = isStandard(given) ? formSchema(given) : given
  const params = { mode: 'form', message, requestedSchema: form }
  let why = ''
  const check = async (filled: unknown): Promise<unknown> => {
    const content = restoreContent(form, filled)
    if (!isStandard(schema)) return content
    const checked = await schema['~standard'].validate(content)
    if (!checked.issues) return checked.value
    why = `: ${describeIssues(checked.issues)}`
    // Where it is asked again, the user reads what was wrong
    params.message = message + why
    return undefined
  }
  const request = { method: 'elicitation/create', params } as const
  const answer = await askClient(asker, request, key, async (a) =>
    a.action === 'accept' ? (await check(a.content)) !== undefined : ACTIONS.includes(a.action),
  ).catch((error: unknown) => {
    if (isUnanswered(error)) error.message += why
    throw error
  })
  if (answer.action !== 'accept') return { action: answer.action as 'decline' | 'cancel' }
  return { action: 'accept', content: (await check(answer.content)) as never }
}

/** Asks by a URL, as `Context` says. */
export async function elicitUrl(
  asker: Asker,
  { message, url, key }: UrlQuestion,
): Promise<UrlAnswer> {
  const { revision, session } = asker.exchange
  const params: JsonObject = { mode: 'url', message, url: new URL(url).href }
  const elicitationId = serverFacts(revision).elicitationIds ? crypto.randomUUID() : undefined
  if (elicitationId !== undefined) {
    params.elicitationId = elicitationId
    if (session) noteElicitation(session.record, elicitationId)
  }
  const answer = await askClient(asker, { method: 'elicitation/create', params }, key, (a) =>
    ACTIONS.includes(a.action),
  )
  return { action: answer.action as ElicitResult['action'], elicitationId }
}

function isStandard(schema: StandardSchema | ObjectSchema): schema is StandardSchema {
  return '~standard' in schema
}

/** The JSON Schema of a form: what the wire allows of the schema's own. */
function formSchema(schema: StandardSchema): ObjectSchema {
  let form = forms.get(schema)
  if (!form) {
    const { type, properties, required } = jsonSchemaOf(schema, 'A form') as ObjectSchema
    if (type !== 'object') throw new TypeError('A form must be an object schema')
    for (const [name, field] of Object.entries(properties ?? {})) requireField(name, field)
    form = { type, properties: properties ?? {}, ...(required && { required }) }
    forms.set(schema, form)
  }
  return form
}

/** Refuses what forms cannot hold, and what must not pass through the client. */
function requireField(name: string, field: JsonObject): void {
  if (SECRET.test(name)) {
    throw new TypeError(`A form cannot ask for "${name}": send the user to a URL of yours`)
  }
  const items = field.items as JsonObject | undefined
  if (field.type === 'object' || (field.type === 'array' && !items?.enum && !items?.anyOf)) {
    throw new TypeError(
      `A form is flat: "${name}" must be text, a number, a boolean or a choice; make its members fields of the form, or ask twice`,
    )
  }
}
