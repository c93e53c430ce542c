/**
 * Composition: mounting one server in another server of the same program.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { Awaitable } from '../../patterns/awaitable.ts'
import type { Result, JsonObject } from '../../protocol/types.ts'
import type { Context } from '../request/context.ts'
import type { InternalContext } from '../request/base-request-context.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { LogRules } from '../request/logging.ts'
import { applyMiddleware } from '../engine/run.ts'
import { createMirror, NO_ENTRIES, UNCHECKED, type SourceEntries } from './mirror.ts'
import { getPrompt, type PromptEntry, type PromptReturn } from '../features/prompts.ts'
import type { Entry, Registry } from '../registry.ts'
import { readResource, type ReadReturn } from '../features/resources.ts'
import { fullDefinitionOf } from '../definition-of.ts'
import type { ServerDefinition } from '../definition.ts'
import type { MountSource, Server } from '../server.ts'
import type { ToolReturn } from '../features/tool-result.ts'
import { callTool, type ToolEntry } from '../features/tools.ts'

/** A mounted server. */
export interface Mount {
  /** Removes everything that was mounted. */
  unmount(): Promise<void>
}

/** The servers that are mounted in each server. */
const mountsByServer = new WeakMap<ServerDefinition, Set<{ readonly source: ServerDefinition }>>()

/** Whether `inner` is `outer` itself, or is mounted in it, directly or through other servers. */
function isMountedIn(inner: ServerDefinition, outer: ServerDefinition): boolean {
  return (
    inner === outer ||
    [...(mountsByServer.get(outer) ?? [])].some(({ source }) => isMountedIn(inner, source))
  )
}

/**
 * Creates the source that `server.mount` uses to mount a server of the same program. The mounted
 * server's middleware and visibility rules apply, and its changes are followed. If the mounted server
 * later adds an entry whose name or URI is taken, the entry is skipped, and `onError` receives an error.
 *
 * `mount` throws a `TypeError` if a name or URI is taken, a server would contain itself, or one of
 * the servers was not created by `createServer` of `edgewise/server`.
 *
 * @example
 * ```ts
 * import { createServer, fromServer } from 'edgewise/server'
 *
 * const git = createServer({ name: 'git', version: '1.0.0' })
 * git.tool('status', {}, () => 'Nothing to commit')
 *
 * const server = createServer({ name: 'all', version: '1.0.0' })
 * server.mount('git', fromServer(git)) // Has the tool "git_status"
 * ```
 */
export function fromServer(mounted: Server): MountSource<Mount> {
  return { mountOn: (server, prefix) => mountServer(server, prefix, mounted) }
}

function mountServer(server: Server, prefix: string, mounted: Server): Mount {
  const target = fullDefinitionOf(server)
  const source = fullDefinitionOf(mounted)
  if (isMountedIn(target, source)) throw new TypeError('A server cannot be mounted in itself')
  const mirror = createMirror(target, (previous, next) => previous !== next)
  const convertEntries = createEntryConverter(source, prefix)
  mirror(convertEntries())
  const mount = { source }
  const mounts = mountsByServer.get(target) ?? new Set()
  mountsByServer.set(target, mounts.add(mount))
  const unsubscribe = mounted.notify.subscribe((change) => {
    if (change.method === 'notifications/elicitation/complete') {
      server.notify.elicitationComplete(change.elicitationId)
    } else if (change.method === 'notifications/resources/updated') {
      server.notify.resourceUpdated(change.uri)
    } else {
      try {
        mirror(convertEntries())
      } catch (error) {
        target.report(error)
      }
    }
  })
  const unmount = (): void => {
    unsubscribe()
    mounts.delete(mount)
    mirror(NO_ENTRIES)
  }
  target.undo?.push(unmount)
  return { unmount: async () => unmount() }
}

/**
 * Creates a function that converts the current entries of a mounted server: their names get the prefix, and they
 * run with the middleware of the mounted server.
 */
function createEntryConverter(source: ServerDefinition, prefix: string): () => SourceEntries {
  const prefixed = (name: string): string => `${prefix}_${name}`
  const report = (error: unknown, ctx: InternalContext): void => source.report(error, ctx)
  const convertTools = convertEnabled<ToolEntry>(source.tools, (name, entry) => {
    const run = (args: unknown, ctx: Context): Promise<ToolReturn> =>
      callSource(source, ctx, { name, arguments: args }, (params, innerCtx) =>
        // Without `tasks`, because the outer server decides which calls become tasks
        callTool({ tools: source.tools, report }, params, innerCtx),
      )
    const item = { ...entry.item, name: prefixed(name) }
    return [
      prefixed(name),
      { ...entry, item, input: UNCHECKED, output: undefined, mirrored: true, run },
    ]
  })
  const convertPrompts = convertEnabled<PromptEntry>(source.prompts, (name, entry) => {
    const get = (args: unknown, ctx: Context): Promise<PromptReturn> =>
      callSource(source, ctx, { name, arguments: args }, (params, innerCtx) =>
        getPrompt(source, params, innerCtx),
      ) as Promise<PromptReturn>
    const item = { ...entry.item, name: prefixed(name) }
    return [prefixed(name), { ...entry, item, input: UNCHECKED, get }]
  })
  const read = createReadHandler(source)
  const convertResources = convertEnabled(source.resources, (uri, entry) => {
    return [uri, { ...entry, read }]
  })
  const convertTemplates = convertEnabled(source.resourceTemplates, (uriTemplate, entry) => {
    return [uriTemplate, { ...entry, read }]
  })
  return () => ({
    tools: convertTools(),
    prompts: convertPrompts(),
    resources: convertResources(),
    resourceTemplates: convertTemplates(),
  })
}

function createReadHandler(source: ServerDefinition) {
  return ({ uri }: { uri: string }, ctx: Context): Promise<ReadReturn> =>
    callSource(source, ctx, { uri }, (params, innerCtx) =>
      readResource(source, params, innerCtx),
    ) as Promise<ReadReturn>
}

/**
 * The enabled entries of a registry, each converted once: an unchanged entry keeps its identity.
 */
function convertEnabled<T extends Entry>(
  registry: Registry<T>,
  convert: (key: string, entry: T) => [string, T],
): () => Map<string, T> {
  const cache = new WeakMap<T, [string, T]>()
  return () => {
    const entries = [...registry.entries()].filter(([, entry]) => entry.enabled)
    const convertedEntries = entries.map(([key, entry]) => {
      const converted = cache.get(entry) ?? convert(key, entry)
      cache.set(entry, converted)
      return converted
    })
    return new Map(convertedEntries)
  }
}

/**
 * Runs a request through the mounted server's middleware, with that server's settings for log
 * messages.
 */
async function callSource(
  source: ServerDefinition,
  ctx: Context,
  params: JsonObject,
  answer: (params: JsonObject, ctx: InternalContext) => Awaitable<Result>,
): Promise<Result> {
  const request = ctx as RequestContext
  request.logs = strictestLogRules(source.logs, request.logs)
  request.server = source
  return applyMiddleware(source, params, request, (_source, currentParams, currentCtx) =>
    answer(currentParams, currentCtx),
  )
}

/** Combines the log rules of two servers: the redaction of both, and the lower rate. */
function strictestLogRules(
  inner: LogRules | undefined,
  outer: LogRules | undefined,
): LogRules | undefined {
  if (!inner || !outer) return inner ?? outer
  const { redact } = inner
  return {
    redact: (name, value) => {
      const redacted = redact ? redact(name, value) : value
      return redacted === undefined || !outer.redact ? redacted : outer.redact(name, redacted)
    },
    maxLogsPerSecond: Math.min(inner.maxLogsPerSecond, outer.maxLogsPerSecond),
    report: inner.report,
  }
}
