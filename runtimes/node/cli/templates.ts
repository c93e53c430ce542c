/**
 * The templates of projects. Each template is a folder of `examples/templates`.
 */
import type { Target } from './arguments.ts'

/** A template. */
export interface Template {
  /** What a project of this template is. */
  readonly meaning: string
  /** Whether packages must be installed before the project runs. Deno loads packages when the project runs. */
  readonly needsPackages: boolean
  /** The server of the project, as hosts use it; `undefined` if the project is a client. */
  readonly server?: TemplateServer
}

/** A server, or the module of a server. Paths are relative to the project's folder. */
export type TemplateServer = Target | { readonly module: string }

/** The endpoint of a Worker on this machine, which exists while the project runs. */
const LOCAL_WORKER = { url: 'http://localhost:8787/mcp' }

const names = ['browser', 'bun', 'deno', 'edge', 'node', 'node-http', 'workers'] as const

/** The name of a template. */
export type TemplateName = (typeof names)[number]

/** The names of all templates, separated by commas. */
export const templateNames: string = names.join(', ')

/** All templates. */
export const templates: Readonly<Record<TemplateName, Template>> = {
  browser: { meaning: 'a page that is a client', needsPackages: true },
  bun: {
    meaning: 'a server on Bun, over HTTP and stdio',
    needsPackages: true,
    server: { command: 'bun', args: ['stdio.ts'] },
  },
  deno: {
    meaning: 'a server on Deno, over HTTP and stdio',
    needsPackages: false,
    server: { command: 'deno', args: ['run', 'stdio.ts'] },
  },
  edge: {
    meaning: 'a small Worker on Cloudflare, with tools only',
    needsPackages: true,
    server: LOCAL_WORKER,
  },
  node: {
    meaning: 'a server on Node that hosts start as a program',
    needsPackages: true,
    server: { module: 'src/main.ts' },
  },
  'node-http': {
    meaning: 'a server on Node, over HTTP',
    needsPackages: true,
    server: { url: 'http://localhost:8000/mcp' },
  },
  workers: {
    meaning: 'a server on Cloudflare Workers, with all features',
    needsPackages: true,
    server: LOCAL_WORKER,
  },
}

/** Whether a word is the name of a template. */
export function isTemplate(word: string | undefined): word is TemplateName {
  return names.some((name) => name === word)
}
