/**
 * A server that answers calls, and does nothing else.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { Implementation } from '../protocol/types.ts'
import type { Features, LeanServer, LeanServerOptions } from './definition.ts'
import { LeanDefinition } from './lean-definition.ts'
import { leanMethods } from './lean-methods.ts'
import { runOnce } from './engine/run.ts'

const lean: Features = { methods: leanMethods, run: runOnce }

/**
 * Makes a smaller server, which only answers calls: tools, resources and prompts, in every revision.
 * It neither asks clients nor tells them of changes, has no resource templates, and completes and
 * observes nothing; and nothing that does so is loaded. Served by `createLeanHandler`, or by
 * whatever serves {@link createServer}'s.
 *
 * @typeParam Env What handlers find as `ctx.env`, as with {@link createServer}.
 * @param info The server's name and version, which clients see.
 * @throws {TypeError} as {@link createServer}.
 */
export function createLeanServer<Env = unknown>(
  info: Implementation,
  options: LeanServerOptions = {},
): LeanServer<Env> {
  return new LeanDefinition(info, options, lean) as LeanServer<Env>
}
