/**
 * `edgewise list`: lists what a server offers.
 */
import { ErrorCode, ProtocolError } from '../../../src/index.ts'
import type { Client } from '../../../src/presets/client.ts'
import type { Invocation } from './arguments.ts'
import { interruption as signal } from './interrupted.ts'
import { open } from './open.ts'
import { oneLine, print, printJson, printRows, printNotice } from './print.ts'
import { UsageError } from './usage.ts'

type Row = readonly [name: string, meaning: string]

/** For each kind of list, the capability that offers it, and the function that reads it. */
const kinds = {
  tools: {
    capabilityOf: (client: Client) => client.serverCapabilities?.tools,
    listAll: (client: Client) => client.listAllTools({ signal }),
  },
  resources: {
    capabilityOf: (client: Client) => client.serverCapabilities?.resources,
    listAll: (client: Client) => client.listAllResources({ signal }),
  },
  templates: {
    capabilityOf: (client: Client) => client.serverCapabilities?.resources,
    listAll: (client: Client) => client.listAllResourceTemplates({ signal }),
  },
  prompts: {
    capabilityOf: (client: Client) => client.serverCapabilities?.prompts,
    listAll: (client: Client) => client.listAllPrompts({ signal }),
  },
} as const

type Kind = keyof typeof kinds

/** Prints all lists, or the list of one kind. */
export async function list(invocation: Invocation): Promise<number> {
  const [kind, ...others] = invocation.commandArguments
  if (others.length > 0 || (kind !== undefined && !Object.hasOwn(kinds, kind))) {
    throw new UsageError(`Specify one of ${Object.keys(kinds).join(', ')}, or nothing to list all`)
  }
  await using client = await open(invocation)
  const requestedKinds = kind === undefined ? (Object.keys(kinds) as Kind[]) : [kind as Kind]
  const lists: Partial<Record<Kind, readonly object[]>> = {}
  for (const requested of requestedKinds) {
    const { capabilityOf, listAll } = kinds[requested]
    if (kind !== undefined) lists[requested] = await listAll(client)
    else if (capabilityOf(client)) lists[requested] = await listAll(client).catch(ignoreUnsupported)
  }
  if (invocation.options.json) {
    const { serverInfo, revision, instructions } = client
    printJson(
      kind === undefined
        ? { serverInfo, revision, instructions, ...lists }
        : lists[requestedKinds[0] ?? 'tools'],
    )
    return 0
  }
  if (kind === undefined) {
    const { serverInfo, revision, instructions } = client
    const { name = 'A server', version = '' } = serverInfo ?? {}
    print(oneLine(`${name} ${version} speaks ${revision}`))
    if (instructions !== undefined) print(instructions)
  }
  for (const [name, entries] of Object.entries(lists)) {
    if (entries.length === 0) {
      if (kind !== undefined) printNotice(`There are no ${name}`)
      continue
    }
    print(name)
    printRows(entries.map(rowOf))
  }
  return 0
}

/** Returns an empty list if the server does not implement the method, although it declares the capability. */
function ignoreUnsupported(error: unknown): [] {
  if (error instanceof ProtocolError && error.code === ErrorCode.METHOD_NOT_FOUND) return []
  throw error
}

/** The key of an entry, and what describes it best. */
function rowOf(entry: object): Row {
  const { uri, uriTemplate, name, title, description } = entry as Record<string, string | undefined>
  const key = uri ?? uriTemplate ?? name ?? ''
  return [key, description ?? title ?? (key === name ? '' : (name ?? ''))]
}
