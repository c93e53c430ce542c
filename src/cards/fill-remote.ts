/**
 * Fills in the variables of an endpoint. Outside its variable, a value never changes the host or the path of a
 * URL.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/schema.ts
 */
import { SdkError } from '../protocol/errors.ts'
import type { CardInput, CardRemote } from './types.ts'

/** Values for variables and headers, by name. */
export type RemoteValues = Readonly<Record<string, string>>

/** How inputs are filled. */
export interface FillOptions {
  /**
   * The values for the variables and headers that the card names. Usually, the user provides them.
   *
   * @default {}
   */
  values?: RemoteValues
  /**
   * Whether inputs with the format `filepath` are accepted. Only programs with access to the user's files can
   * use such values.
   *
   * @default false
   */
  filePaths?: boolean
}

/** A filled endpoint. */
export interface FilledRemote {
  readonly url: string
  readonly headers: Record<string, string>
}

/** A variable in braces. */
const VARIABLE = /\{([a-zA-Z_]\w*)\}/g
/** Headers that belong to the transport. */
const RESERVED =
  /^(?:host|content-length|content-type|accept|origin|cookie|connection|transfer-encoding|mcp-.*)$/i
/** A valid header name. */
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
/** A valid header value: Latin-1 without control characters. */
const FIELD_VALUE = /^[\t -~\u0080-\u00ff]*$/
/** A valid part of a host. */
const HOST_PART = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i
/** The valid values of the formats that restrict them. */
const FORMATS: Readonly<Record<string, RegExp>> = {
  number: /^-?\d+(?:\.\d+)?$/,
  boolean: /^(?:true|false)$/,
}

/**
 * Fills an endpoint.
 *
 * @throws {SdkError} `INVALID_USE` if values are missing, which the message and `data.missing` name;
 *   or a value is invalid.
 */
export function fillRemote(remote: CardRemote, options: FillOptions): FilledRemote {
  const missing = new Set<string>()
  const reader = new InputReader(options, missing)
  const url = fillUrl(remote, reader)
  const headers: Record<string, string> = {}
  for (const header of remote.headers ?? []) {
    const { name, variables = {}, isRequired = false, value } = header
    const headerValue =
      value === undefined
        ? reader.read(name, header)
        : fillText(value, (variable) =>
            reader.read(variable, variables[variable] ?? { isRequired }),
          )
    if (!TOKEN.test(name) || RESERVED.test(name))
      throw invalidError(`The header "${name}"`, 'not permitted')
    if (headerValue === undefined) continue
    if (!FIELD_VALUE.test(headerValue))
      throw invalidError(`The value of "${name}"`, 'not a header value')
    headers[name] = headerValue
  }
  if (missing.size > 0) {
    const names = [...missing]
    const list = names.map((name) => `"${name}"`).join(', ')
    throw new SdkError('INVALID_USE', `The server needs values for ${list}`, {
      data: { missing: names },
    })
  }
  return { url, headers }
}

/** Reads the values of the inputs of one endpoint. */
class InputReader {
  readonly #options: FillOptions
  readonly #missing: Set<string>

  /** @param missing Receives the names of the required inputs without a value. */
  constructor(options: FillOptions, missing: Set<string>) {
    this.#options = options
    this.#missing = missing
  }

  /**
   * Returns the value of an input; `undefined` if it has none. A required input without a value is recorded as
   * missing.
   *
   * @throws {SdkError} `INVALID_USE` if the value is invalid. The message does not contain it, because
   *   it may be secret.
   */
  read(name: string, input: CardInput): string | undefined {
    const { values = {}, filePaths } = this.#options
    const { format = 'string', choices, isRequired } = input
    const supplied = Object.hasOwn(values, name) ? values[name] : undefined
    const isPath = format === 'filepath'
    const value = input.value ?? supplied ?? (isPath ? undefined : input.default)
    if (value === undefined) {
      if (isRequired) this.#missing.add(name)
      return undefined
    }
    if (choices && !choices.includes(value)) {
      throw invalidError(`The value of "${name}"`, `not one of ${choices.join(', ')}`)
    }
    const isAnyText = format === 'string' || (isPath && filePaths)
    const isValid = FORMATS[format]?.test(value) ?? isAnyText
    if (!isValid) {
      throw invalidError(`The value of "${name}"`, `not a ${format} that can be used here`)
    }
    return value
  }
}

/** Fills the URL, in which every variable needs a value. */
function fillUrl({ url, variables = {} }: CardRemote, reader: InputReader): string {
  const valueOf = (name: string): string | undefined => {
    return reader.read(name, { ...variables[name], isRequired: true })
  }
  // A variable at the start of a URL contains an origin, and possibly a path
  const [, originVariable] = /^\{(\w+)\}/.exec(url) ?? []
  const origin = originVariable === undefined ? undefined : valueOf(originVariable)
  const template = originVariable === undefined ? url : url.slice(`{${originVariable}}`.length)
  const [, authority = '', rest = ''] = /^((?:https?:\/\/[^/?#]*)?)(.*)$/s.exec(template) ?? []
  const host = fillText(authority, (name) => {
    const value = valueOf(name)
    if (value !== undefined && !HOST_PART.test(value)) throw unsafeError(name)
    return value
  })
  const path = fillText(rest, (name) => {
    const value = valueOf(name)
    // A URL parser would remove a segment of dots, together with the previous segment
    if (value !== undefined && /^\.*$/.test(value)) throw unsafeError(name)
    return value === undefined ? undefined : encodeURIComponent(value)
  })
  const base = template.startsWith('/') ? origin?.replace(/\/$/, '') : origin
  return `${base ?? ''}${host ?? ''}${path ?? ''}`
}

/** Replaces the variables of a text. Variables in their values remain. Returns `undefined` if a value is missing. */
function fillText(
  template: string,
  valueOf: (name: string) => string | undefined,
): string | undefined {
  let isComplete = true
  const text = template.replace(VARIABLE, (_, name: string) => {
    const value = valueOf(name)
    if (value === undefined) isComplete = false
    return value ?? ''
  })
  return isComplete ? text : undefined
}

function unsafeError(name: string): SdkError {
  return invalidError(`The value of "${name}"`, 'not part of a host or path')
}

function invalidError(subject: string, reason: string): SdkError {
  return new SdkError('INVALID_USE', `${subject} is ${reason}`)
}
