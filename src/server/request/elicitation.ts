/**
 * Elicitation: asking the user to fill in a form, or to open a URL.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import { restoreContent } from '../../protocol/degrade-form.ts'
import {
  describeIssues,
  jsonSchemaOf,
  type InferInput,
  type InferOutput,
  type StandardSchema,
} from '../../protocol/standard-schema.ts'
import type { ElicitResult, ObjectSchema, JsonObject } from '../../protocol/types.ts'
import { serverFacts } from '../../protocol/server-facts.ts'
import { noteElicitation } from '../../session/url-elicitations.ts'
import { askClient, SECRET_NAME, type InputRequester } from './ask.ts'
import { isUnanswered } from './ask-errors.ts'

/** Parameters of an elicitation with a form. */
export interface ElicitFormOptions<S extends StandardSchema | ObjectSchema> {
  /** Explains to the user what is requested and why. */
  message: string
  /**
   * The schema of an object of strings, numbers, booleans and enums. A nested object is a type error.
   * With a Standard Schema, the content is the validated output of the schema. A JSON Schema is sent
   * unchanged, and the content is not validated.
   */
  schema: S & FlatForm<S>
  /** Identifies the request across replays. By default derived from the request's method and number. */
  key?: string
}

/** A type error for schemas with nested fields; no constraint for any other schema. */
export type FlatForm<S extends StandardSchema | ObjectSchema> = S extends StandardSchema
  ? [NestedFields<InferInput<S>>] extends [never]
    ? unknown
    : {
        'A form is flat: move the members of these fields to the top level': NestedFields<
          InferInput<S>
        >
      }
  : unknown

/** The names of fields that are not strings, numbers, booleans or enums. */
type NestedFields<Input> = {
  [Name in keyof Input]-?: unknown extends Input[Name]
    ? never
    : NonNullable<Input[Name]> extends string | number | boolean | readonly string[]
      ? never
      : Name
}[keyof Input]

/** Parameters of an elicitation with a URL, for data that must not pass through the client. */
export interface ElicitUrlOptions {
  /** Explains to the user why the URL should be opened. */
  message: string
  url: string
  /** Identifies the request across replays. By default derived from the request's method and number. */
  key?: string
}

/**
 * Whether the user agreed to open the URL. The interaction on the page may not be complete yet.
 */
export interface ElicitUrlResult {
  action: 'accept' | 'decline' | 'cancel'
  /**
   * The id to pass to `server.notify.elicitationComplete` when the interaction is complete. Set only
   * in revision 2025-11-25.
   */
  elicitationId: string | undefined
}

/**
 * What the user did with the form. `content` is present only if the user accepted. It was validated
 * only if the schema is a Standard Schema.
 */
export type ElicitFormResult<S extends StandardSchema | ObjectSchema> =
  | {
      action: 'accept'
      content: S extends StandardSchema ? InferOutput<S> : NonNullable<ElicitResult['content']>
    }
  | { action: 'decline' | 'cancel'; content?: undefined }

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel']
/** The JSON Schemas of forms, by the Standard Schemas from which they were created. */
const formSchemas = new WeakMap<StandardSchema, ObjectSchema>()

/** Implements `Context.elicit`. */
export async function elicitForm<S extends StandardSchema | ObjectSchema>(
  requester: InputRequester,
  { message, schema, key }: ElicitFormOptions<S>,
): Promise<ElicitFormResult<S>> {
  const anySchema: StandardSchema | ObjectSchema = schema
  const form = isStandard(anySchema) ? formSchema(anySchema) : anySchema
  const params = { mode: 'form', message, requestedSchema: form }
  let rejectionReason = ''
  /** Returns the content as the handler receives it; `undefined` if the schema rejects the content. */
  const validateContent = async (rawContent: unknown): Promise<unknown> => {
    const content = restoreContent(form, rawContent)
    if (!isStandard(schema)) return content
    const validation = await schema['~standard'].validate(content)
    if (!validation.issues) return validation.value
    rejectionReason = `: ${describeIssues(validation.issues)}`
    // When the form is shown again, the message says what was wrong
    params.message = message + rejectionReason
    return undefined
  }
  const request = { method: 'elicitation/create', params } as const
  const answer = await askClient(requester, request, key, async ({ action, content }) =>
    action === 'accept' ? (await validateContent(content)) !== undefined : ACTIONS.includes(action),
  ).catch((error: unknown) => {
    if (isUnanswered(error)) error.message += rejectionReason
    throw error
  })
  if (answer.action !== 'accept') return { action: answer.action as 'decline' | 'cancel' }
  return { action: 'accept', content: (await validateContent(answer.content)) as never }
}

/** Implements `Context.elicitUrl`. */
export async function elicitUrl(
  requester: InputRequester,
  { message, url, key }: ElicitUrlOptions,
): Promise<ElicitUrlResult> {
  const { revision, session } = requester.exchange
  const params: JsonObject = { mode: 'url', message, url: new URL(url).href }
  const elicitationId = serverFacts(revision).elicitationIds ? crypto.randomUUID() : undefined
  if (elicitationId !== undefined) {
    params.elicitationId = elicitationId
    if (session) noteElicitation(session.record, elicitationId)
  }
  const request = { method: 'elicitation/create', params } as const
  const answer = await askClient(requester, request, key, ({ action }) => ACTIONS.includes(action))
  return { action: answer.action as ElicitResult['action'], elicitationId }
}

function isStandard(schema: StandardSchema | ObjectSchema): schema is StandardSchema {
  return '~standard' in schema
}

/** The JSON Schema of a form, reduced to what the protocol allows. */
function formSchema(schema: StandardSchema): ObjectSchema {
  let form = formSchemas.get(schema)
  if (!form) {
    const { type, properties, required } = jsonSchemaOf(schema, 'A form') as ObjectSchema
    if (type !== 'object') throw new TypeError('A form must be an object schema')
    for (const [name, field] of Object.entries(properties ?? {}))
      rejectUnsupportedField(name, field)
    form = { type, properties: properties ?? {}, ...(required && { required }) }
    formSchemas.set(schema, form)
  }
  return form
}

/** Rejects a field that forms do not support, or whose value must not pass through the client. */
function rejectUnsupportedField(name: string, field: JsonObject): void {
  if (SECRET_NAME.test(name)) {
    throw new TypeError(`A form cannot ask for "${name}": use a URL elicitation`)
  }
  const items = field.items as JsonObject | undefined
  if (field.type === 'object' || (field.type === 'array' && !items?.enum && !items?.anyOf)) {
    throw new TypeError(
      `A form is flat: "${name}" must be text, a number, a boolean or a choice; move its members to the form`,
    )
  }
}
