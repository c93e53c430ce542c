/**
 * Holds values and whole messages against the published JSON Schemas, which are in this folder as
 * they were published.
 *
 * @see https://github.com/modelcontextprotocol/modelcontextprotocol/tree/main/schema
 */
import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Revision } from '../../src/protocol/revisions.ts'
import { isObject } from '../../src/protocol/validate.ts'

/** Which way a message goes. */
export type Direction = 'client-to-server' | 'server-to-client'

type Schema = Record<string, unknown>

interface Definitions {
  schemas: Record<string, Schema>
  validator(name: string, closed: boolean): ValidateFunction
}

const loaded = new Map<Revision, Definitions>()

/**
 * What the schema of a revision says against a value, or nothing.
 *
 * @param definitionName Such as `CallToolResult`.
 * @param options.closed Whether members that the schema does not name are faults too. Free objects
 * stay free: `_meta`, JSON Schemas, and what the schema declares open.
 */
export function schemaErrors(
  revision: Revision,
  definitionName: string,
  value: unknown,
  options: { closed?: boolean } = {},
): string[] {
  const validate = load(revision).validator(definitionName, options.closed ?? false)
  // What undefined would leave out of JSON is no fault.
  validate(JSON.parse(JSON.stringify(value)))
  return (validate.errors ?? []).map(({ instancePath, message = '', params }) => {
    const extra = 'additionalProperty' in params ? ` "${params.additionalProperty}"` : ''
    return `${definitionName}${instancePath}: ${message}${extra}`
  })
}

/**
 * What the schema of a revision says against a message: its envelope, its params or result, and the
 * direction in which it goes. An error response needs no id in any revision.
 *
 * @param requestMethod The method that a response answers; without it only the envelope of a result
 * is looked at.
 * @param options.closed As for {@link schemaErrors}; the envelope stays open.
 */
export function checkMessage(
  revision: Revision,
  direction: Direction,
  message: unknown,
  requestMethod?: string,
  options: { closed?: boolean } = {},
): string[] {
  if (Array.isArray(message)) {
    if (revision !== '2025-03-26') return [`A batch in ${revision}`]
    return message.flatMap((item) =>
      checkMessage(revision, direction, item, requestMethod, options),
    )
  }
  if (!isObject(message)) return ['The message is not an object']
  if (typeof message.method === 'string') return checkCall(revision, direction, message, options)
  if ('error' in message) return checkError(revision, message)
  const envelope = first(revision, 'JSONRPCResultResponse', 'JSONRPCResponse')
  const faults = schemaErrors(revision, envelope, message)
  if (faults.length > 0 || requestMethod === undefined) return faults
  const answers: Direction =
    direction === 'client-to-server' ? 'server-to-client' : 'client-to-server'
  const request = findCall(revision, 'Request', answers, requestMethod)
  if (!request) return [`No request "${requestMethod}" goes ${answers} in ${revision}`]
  return checkResult(revision, request.replace(/Request$/, 'Result'), message.result, options)
}

function checkResult(
  revision: Revision,
  name: string,
  result: unknown,
  options: { closed?: boolean },
): string[] {
  const { schemas } = load(revision)
  if (isObject(result) && result.resultType === 'input_required') {
    const response = JSON.stringify(schemas[`${name}Response`] ?? {})
    if (!response.includes('/InputRequiredResult"')) return [`${name} cannot ask for input`]
    return schemaErrors(revision, 'InputRequiredResult', result, options)
  }
  if (isObject(result) && 'task' in result && 'CreateTaskResult' in schemas) {
    return schemaErrors(revision, 'CreateTaskResult', result, options)
  }
  return schemaErrors(revision, name in schemas ? name : 'EmptyResult', result, options)
}

function checkCall(
  revision: Revision,
  direction: Direction,
  message: Schema,
  options: { closed?: boolean },
): string[] {
  const kind = 'id' in message ? 'Request' : 'Notification'
  const method = String(message.method)
  const name = findCall(revision, kind, direction, method)
  if (!name) {
    return [`No ${kind.toLowerCase()} "${method}" goes ${direction} in ${revision}`]
  }
  return [
    ...schemaErrors(revision, `JSONRPC${kind}`, message),
    ...schemaErrors(revision, name, bare(revision, name, message), options),
  ]
}

/** A call without its envelope, where the definition of its method leaves that out. */
function bare(revision: Revision, name: string, message: Schema): Schema {
  const properties = load(revision).schemas[name]?.properties
  if (isObject(properties) && 'jsonrpc' in properties) return message
  const { jsonrpc: _version, id: _id, ...call } = message
  return call
}

function checkError(revision: Revision, message: Schema): string[] {
  const envelope = first(revision, 'JSONRPCErrorResponse', 'JSONRPCError')
  const faults = schemaErrors(
    revision,
    envelope,
    message.id === undefined ? { ...message, id: 0 } : message,
  )
  const { schemas } = load(revision)
  const code = isObject(message.error) ? message.error.code : undefined
  // Errors with data of their own are whole messages in the schema.
  const specific = Object.keys(schemas).filter(
    (name) =>
      name.endsWith('Error') && JSON.stringify(schemas[name]).includes(`"const":${String(code)},`),
  )
  return specific
    .filter((name) => isObject(schemas[name]?.properties) && 'error' in schemas[name].properties)
    .flatMap((name) => schemaErrors(revision, name, message))
    .concat(faults)
}

/** The definition of a request or notification that may go in a direction. */
function findCall(
  revision: Revision,
  kind: 'Request' | 'Notification',
  direction: Direction,
  method: string,
): string | undefined {
  const { schemas } = load(revision)
  const union = schemas[`${direction === 'client-to-server' ? 'Client' : 'Server'}${kind}`]
  const allowed = JSON.stringify(union ?? {})
  return Object.keys(schemas).find((name) => {
    const properties = schemas[name]?.properties
    if (!name.endsWith(kind) || !isObject(properties) || !isObject(properties.method)) return false
    if (properties.method.const !== method) return false
    return allowed.includes(`/${name}"`) || allowed.includes(`"const":"${method}"`)
  })
}

function first(revision: Revision, ...names: string[]): string {
  const { schemas } = load(revision)
  return names.find((name) => Object.hasOwn(schemas, name)) ?? names.join()
}

function load(revision: Revision): Definitions {
  const existing = loaded.get(revision)
  if (existing) return existing
  const text = readFileSync(new URL(`${revision}.json`, import.meta.url), 'utf8')
  const schema = JSON.parse(text) as Schema
  const keyword = '$defs' in schema ? '$defs' : 'definitions'
  const schemas = schema[keyword] as Record<string, Schema>
  allowFractions(schemas)
  const Validator = keyword === '$defs' ? Ajv2020 : Ajv
  const ajv = new Validator({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ ...schema, $id: 'open' })
  ajv.addSchema({ ...schema, [keyword]: close(schemas), $id: 'closed' })
  const definitions: Definitions = {
    schemas,
    validator(name, closed) {
      const validate = ajv.getSchema(`${closed ? 'closed' : 'open'}#/${keyword}/${name}`)
      if (!validate) throw new Error(`${revision} has no definition "${name}"`)
      return validate
    },
  }
  loaded.set(revision, definitions)
  return definitions
}

/** The prose lets numbers in forms be fractions; the generated schemas say integer. */
function allowFractions({ ElicitResult }: Record<string, Schema>): void {
  if (!ElicitResult) return
  const text = JSON.stringify(ElicitResult).replaceAll('"integer"', '"number"')
  Object.assign(ElicitResult, JSON.parse(text))
}

const FREE = /^(?:_meta|inputSchema|outputSchema|.*MetaObject)$/

/** The definitions with every object closed that names its members and is not declared open. */
function close(schemas: Record<string, Schema>): Record<string, Schema> {
  // Parts of an intersection each see the members of the others.
  const parts = new Set(
    [...JSON.stringify(schemas).matchAll(/"allOf":\[([^\]]*)\]/g)].flatMap(([, refs = '']) =>
      [...refs.matchAll(/\/(\w+)"/g)].map(([, name]) => name),
    ),
  )
  const visit = (schema: unknown, name: string): unknown => {
    if (Array.isArray(schema)) return schema.map((item) => visit(item, ''))
    if (!isObject(schema) || FREE.test(name) || parts.has(name)) return schema
    const result = Object.fromEntries(
      Object.entries(schema).map(([key, value]) => [key, visit(value, key)]),
    )
    const { properties, additionalProperties } = result
    if (!isObject(properties) || additionalProperties !== undefined || 'allOf' in schema) {
      return result
    }
    if (Object.keys(properties).length === 0 || typeof schema.type !== 'string') return result
    const meta = /params$/i.test(name) ? { _meta: true } : {}
    return { ...result, properties: { ...meta, ...properties }, additionalProperties: false }
  }
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, visit(schema, name) as Schema]),
  )
}
