/**
 * `edgewise card` prints the server card that a module exports; `edgewise registry-entry` converts it to an
 * entry of the MCP registry.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { toRegistryEntry } from '../../../src/cards/index.ts'
import { SdkError, type JsonObject } from '../../../src/index.ts'
import { printJson, printNotice } from './print.ts'
import { UsageError } from './usage.ts'

type ServerCard = Parameters<typeof toRegistryEntry>[0]

/** What is published about a server. */
interface Publication {
  readonly card: ServerCard
  /** How to install the server, from the module's export `packages`. */
  readonly packages: readonly JsonObject[] | undefined
}

/**
 * `edgewise card`: prints the card that a module exports.
 *
 * @throws {UsageError} If the module exports no card.
 */
export async function printCard([file, ...others]: readonly string[]): Promise<number> {
  if (others.length > 0) throw new UsageError(`Unexpected argument: "${others[0]}"`)
  const { card } = await loadPublication(requireFile(file))
  printJson(card)
  return 0
}

/**
 * `edgewise registry-entry`: validates an entry for the registry, and prints it. The entry is read from a file, such as
 * `server.json`, or created from the card that a module exports.
 *
 * @throws {UsageError} If there is no entry, or the entry is invalid.
 */
export async function printRegistryEntry([file, ...others]: readonly string[]): Promise<number> {
  if (others.length > 0) throw new UsageError(`Unexpected argument: "${others[0]}"`)
  const path = requireFile(file)
  const cards = await import('../../../src/cards/index.ts')
  if (path.endsWith('.json')) {
    const value = await readJson(path)
    printJson(check(path, () => cards.requireRegistryEntry(value)))
  } else {
    const { card, packages } = await loadPublication(path)
    const { entry, dropped } = check(path, () => cards.toRegistryEntry(card, packages))
    for (const member of dropped) printNotice(`The registry does not support "${member}"`)
    printJson(entry)
  }
  printNotice('The entry is valid. To publish it, use "mcp-publisher"')
  return 0
}

function requireFile(file: string | undefined): string {
  if (file === undefined) throw new UsageError('Specify a file, such as "server.js"')
  return file
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown
  } catch (error) {
    throw new UsageError(`Cannot read "${path}": ${messageOf(error)}`)
  }
}

/**
 * Loads a module, and finds the card among its exports.
 *
 * @throws {UsageError} If the module cannot be loaded, or exports no card.
 */
async function loadPublication(path: string): Promise<Publication> {
  const { requireCard } = await import('#internal/cards')
  let exported: Readonly<Record<string, unknown>>
  // Standard output must contain only the card, so what the module logs goes to standard error
  console.log = console.info = console.debug = console.error
  try {
    exported = (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>
  } catch (error) {
    throw new UsageError(`Cannot load "${path}": ${messageOf(error)}`)
  }
  const { card = exported.default, packages } = exported
  if (card === undefined) {
    throw new UsageError(`"${path}" has no export "card": export the result of serverCard()`)
  }
  return {
    card: check(path, () => requireCard(card)),
    packages: packages as readonly JsonObject[] | undefined,
  }
}

/** Runs a check. If it fails, the error names the checked file. */
function check<T>(path: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SdkError)) throw error
    throw new UsageError(`"${path}": ${error.message}`)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
