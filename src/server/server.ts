/**
 * A server that does all that the protocol has: it answers calls, asks clients, tells them of changes.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { Implementation } from '../protocol/types.ts'
import { complete } from './features/completion.ts'
import type { OptionNames } from '../patterns/known-options.ts'
import type {
  Features,
  LeanServerOptions,
  Method,
  Server,
  ServerDefinition,
  ServerOptions,
} from './definition.ts'
import { leanMethods } from './lean-methods.ts'
import { LeanDefinition } from './lean-definition.ts'
import { setLevel } from './request/logging.ts'
import { createNotifier, type Notifier } from './notifier.ts'
import { subscribeResource, unsubscribeResource } from './features/resource-subscriptions.ts'
import { resourceTemplateEntry } from './features/resource-templates.ts'
import type {
  ReadHandler,
  ResourceRegistration,
  ResourceTemplateOptions,
} from './features/resources.ts'
import { runRounds } from './engine/run-rounds.ts'
import { listen } from './features/subscriptions.ts'

/** By a function, as bundlers keep a module's values that are made of other modules'. */
function wholeFeatures(): Features {
  const methods = new Map<string, Method>([
    ...leanMethods,
    ['subscriptions/listen', listen],
    ['resources/subscribe', subscribeResource],
    ['resources/unsubscribe', unsubscribeResource],
    ['completion/complete', complete],
    ['logging/setLevel', setLevel],
  ])
  return { methods, run: runRounds }
}

/**
 * Makes a server, to be served by a handler, a Worker, a stdio loop and so on.
 *
 * @typeParam Env What handlers find as `ctx.env`: what the host gives as the caller's environment,
 *   such as a Worker's bindings.
 * @param info The server's name and version, which clients see.
 * @throws {TypeError} when `info` has no name or version, `revisions` names one that does not exist,
 *   or pages hold nothing.
 */
export function createServer<Env = unknown>(
  info: Implementation,
  options: ServerOptions = {},
): Server<Env> {
  // Hosts give what they have; that this is what the author says is the author's word.
  return new Definition(info, options) as Server<Env>
}

/**
 * What a server holds that can do all that the protocol has.
 *
 * @throws {TypeError} when the value was not made by {@link createServer}.
 */
export function wholeDefinitionOf(server: Server): ServerDefinition {
  if (server instanceof Definition) return server
  throw new TypeError('The server must be made by createServer')
}

const OPTIONS = {
  ...{ observe: 1, redact: 1, maxLogsPerSecond: 1 },
} satisfies OptionNames<Omit<ServerOptions, keyof LeanServerOptions>>

/** Whether a function of an entry has a second parameter: the context, which can log. */
function takesContext([, entry]: [string, object]): boolean {
  return Object.values(entry).some((value) => typeof value === 'function' && value.length > 1)
}

class Definition extends LeanDefinition implements Server {
  override notify: Notifier = createNotifier((error) => this.report(error))

  constructor(info: Implementation, options: ServerOptions) {
    super(info, options, wholeFeatures(), OPTIONS)
    const { observe, redact, maxLogsPerSecond = 1000 } = options
    this.logs = { redact, maxLogsPerSecond, report: (error) => this.report(error) }
    if (observe && !observe.start) throw new TypeError('"observe" takes observer(fn)')
    const observation = observe?.start(this.logs)
    this.observe = observation?.observe
    this.watch = observation?.watch
  }

  get canLog(): boolean {
    const lists = [this.tools, this.prompts, this.resources, this.resourceTemplates]
    return this.wrapped || lists.some((list) => [...list.entries()].some(takesContext))
  }

  resourceTemplate(
    uriTemplate: string,
    options: ResourceTemplateOptions,
    read: ReadHandler,
  ): ResourceRegistration<ResourceTemplateOptions> {
    const entry = resourceTemplateEntry(uriTemplate, options, read)
    const place = this.resourceTemplates.add(uriTemplate, entry)
    return {
      ...place,
      update: (...changed) => place.replace(resourceTemplateEntry(uriTemplate, ...changed)),
    }
  }
}
