/**
 * Adds a server to the text of a configuration, or removes a server from the text. Each edit is verified: the new
 * text must contain the added server, or lack the removed server, and everything else must be unchanged.
 */
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../../../src/index.ts'
import { ConfigurationError } from './configuration-file.ts'
import type { Host } from './host.ts'
import {
  isObject,
  parseJsonText,
  removeElement,
  removeMember,
  setElement,
  setMember,
} from './json-text.ts'
import { parseTomlText, removeTable, setTable } from './toml-text.ts'

/** A value that VS Code asks the user for. */
export interface PromptInput {
  readonly type: 'promptString'
  readonly id: string
  readonly description: string
  readonly password: true
}

/** A parsed configuration. */
interface Configuration {
  /** The whole configuration. */
  readonly root: JsonObject
  /** The member of the configuration that contains the servers. */
  readonly servers: JsonObject
}

/** The properties of a host that determine how its configuration is edited. */
type HostFormat = Pick<Host, 'format' | 'section'>

/**
 * Reads the servers of a configuration, by their names.
 *
 * @throws {ConfigurationError} If the text is invalid.
 */
export function readServers(
  path: string,
  text: string,
  host: HostFormat,
): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(read(path, text, host).servers))
}

/**
 * Adds or replaces a server.
 *
 * @param inputs The values that the host has to ask for. Inputs that only the replaced server used are
 *   removed.
 * @throws {ConfigurationError} If the text is invalid, or has a form that cannot be edited, or another
 *   server uses one of the inputs for something else.
 */
export function addServer(
  path: string,
  text: string,
  host: HostFormat,
  name: string,
  entry: JsonObject,
  inputs: readonly PromptInput[] = [],
): string {
  const before = read(path, text, host)
  let edited: string
  if (host.format === 'toml') {
    edited = setTable(text, host.section, name, entry)
  } else {
    requireFreeInputs(path, text, without(before.servers, name), inputs)
    edited = setMember(text, [host.section, name], entry)
    for (const id of unusedInputs(before, name, edited, path, host))
      edited = removeInput(path, edited, id)
    for (const input of inputs) edited = setInput(path, edited, input)
  }
  const inputIds = [...inputs.map(({ id }) => id), ...inputsUsedBy(before.servers[name])]
  verify(path, edited, host, name, { before, entry, inputIds })
  return edited
}

/** Checks that no other server uses an input with the same id, but with other content. */
function requireFreeInputs(
  path: string,
  text: string,
  others: JsonObject,
  inputs: readonly PromptInput[],
): void {
  const existingInputs = inputsOf(path, text)
  const used = inputsUsedBy(others)
  for (const input of inputs) {
    const existingInput = existingInputs.find((each) => isObject(each) && each['id'] === input.id)
    if (!existingInput || !used.includes(input.id)) continue
    if (isDeepStrictEqual(jsonCopy(existingInput), jsonCopy(input))) continue
    throw new ConfigurationError(
      `Another server in "${path}" uses the input "${input.id}": choose another name with "--name"`,
    )
  }
}

/** The ids of the inputs that a part of a configuration refers to. */
function inputsUsedBy(part: unknown): string[] {
  const references = JSON.stringify(part ?? '').matchAll(/\$\{input:([^}]+)\}/g)
  return Array.from(references, ([, id = '']) => id)
}

/** The ids of the inputs that a server used before an edit, and that no server uses after it. */
function unusedInputs(
  before: Configuration,
  name: string,
  edited: string,
  path: string,
  host: HostFormat,
): string[] {
  const used = inputsUsedBy(read(path, edited, host).servers)
  return inputsUsedBy(before.servers[name]).filter((id) => !used.includes(id))
}

/**
 * Removes a server, and the inputs that only it uses.
 *
 * @throws {ConfigurationError} If the text is invalid, or has a form that cannot be edited.
 */
export function removeServer(path: string, text: string, host: HostFormat, name: string): string {
  const before = read(path, text, host)
  if (host.format === 'toml') {
    const edited = removeTable(text, host.section, name)
    verify(path, edited, host, name, { before, inputIds: [] })
    return edited
  }
  let edited = removeMember(text, [host.section, name])
  const inputIds = unusedInputs(before, name, edited, path, host)
  for (const id of inputIds) edited = removeInput(path, edited, id)
  verify(path, edited, host, name, { before, inputIds })
  return edited
}

/**
 * Checks that an edit changed nothing but a server and its inputs. `entry` is the new entry of the server, or
 * absent if the server was removed. `inputIds` are the ids of the inputs that the edit may change.
 */
function verify(
  path: string,
  edited: string,
  host: HostFormat,
  name: string,
  {
    before,
    entry,
    inputIds,
  }: { before: Configuration; entry?: JsonObject; inputIds: readonly string[] },
): void {
  const restOf = ({ root, servers }: Configuration): unknown => {
    const inputs = Array.isArray(root['inputs']) ? root['inputs'] : []
    return jsonCopy({
      root: without(root, 'inputs', host.section),
      servers: without(servers, name),
      inputs: inputs.filter((each) => !isObject(each) || !inputIds.includes(String(each['id']))),
    })
  }
  try {
    const after = read(path, edited, host)
    const server = Object.hasOwn(after.servers, name) ? after.servers[name] : undefined
    const hasEntry = isDeepStrictEqual(jsonCopy(entry), jsonCopy(server))
    if (hasEntry && isDeepStrictEqual(restOf(before), restOf(after))) return
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
  }
  throw new ConfigurationError(
    `Cannot edit "${host.section}" in "${path}" without other changes: edit the file by hand`,
  )
}

/** Returns an object without some of its members. */
function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

/** Copies a value by converting it to JSON and back, so that it can be compared. */
function jsonCopy(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

function read(path: string, text: string, { format, section }: HostFormat): Configuration {
  const root = parse(path, text, format)
  const { [section]: servers = {} } = root
  if (!isObject(servers)) {
    throw new ConfigurationError(`"${section}" in "${path}" must be an object: correct it by hand`)
  }
  return { root, servers }
}

function parse(path: string, text: string, format: Host['format']): JsonObject {
  try {
    return format === 'toml' ? parseTomlText(text) : parseJsonText(text)
  } catch (error) {
    if (error instanceof RangeError) {
      throw new ConfigurationError(`"${path}" is nested too deeply: edit the file by hand`)
    }
    if (!(error instanceof SyntaxError)) throw error
    const kind = format === 'toml' ? 'TOML' : 'JSON'
    throw new ConfigurationError(`"${path}" is not valid ${kind}: ${error.message}`, {
      cause: error,
    })
  }
}

/** Replaces the input with the same id. If there is none, adds the input. */
function setInput(path: string, text: string, input: PromptInput): string {
  const inputs = inputsOf(path, text)
  const index = inputs.findIndex((each) => isObject(each) && each['id'] === input.id)
  return setElement(text, 'inputs', index === -1 ? inputs.length : index, input)
}

function removeInput(path: string, text: string, id: string): string {
  const inputs = inputsOf(path, text)
  const index = inputs.findIndex((each) => isObject(each) && each['id'] === id)
  if (index === -1) return text
  return inputs.length === 1 ? removeMember(text, ['inputs']) : removeElement(text, 'inputs', index)
}

function inputsOf(path: string, text: string): readonly unknown[] {
  const { inputs = [] } = parse(path, text, 'json')
  if (Array.isArray(inputs)) return inputs
  throw new ConfigurationError(`"inputs" in "${path}" must be an array: correct it by hand`)
}
