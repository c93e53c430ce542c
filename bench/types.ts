/** A file with 500 zod tools: the time and memory that the compiler needs to check it. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Bench } from './bench.ts'
import { spread } from './compare.ts'

const COUNT = 500

const input = `z.object({
    query: z.string().min(1).describe('Words to look for'),
    limit: z.number().int().min(1).max(100).optional(),
    kind: z.enum(['file', 'folder', 'link']).optional(),
    tags: z.array(z.string()).optional(),
    range: z.object({ from: z.string(), to: z.string() }).optional(),
  })`
const words = '`${query} ${limit} ${range?.from}`'
const content = `({ content: [{ type: 'text', text: ${words} }] })`

/** The start of each SDK's file, and how it registers a tool. */
const files: Record<string, { head: string; tool: (name: string) => string }> = {
  // The cost of zod and of the argument types alone.
  floor: {
    head: '',
    tool: (name) =>
      `const ${name} = ${input}
export const run_${name} = ({ query, limit, range }: z.output<typeof ${name}>) => ${words}`,
  },
  edgewise: {
    head: `import { createServer, text } from 'edgewise/server'
const server = createServer({ name: 'many', version: '1.0.0' })`,
    tool: (name) =>
      `server.tool('${name}', { input: ${input} }, ({ query, limit, range }) => text(${words}))`,
  },
  'official v2': {
    head: `import { McpServer } from '@modelcontextprotocol/server'
const server = new McpServer({ name: 'many', version: '1.0.0' })`,
    tool: (name) =>
      `server.registerTool('${name}', { inputSchema: ${input} }, ({ query, limit, range }) => ${content})`,
  },
  'official v1': {
    head: `import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
const server = new McpServer({ name: 'many', version: '1.0.0' })`,
    tool: (name) =>
      `server.registerTool('${name}', { inputSchema: ${input} }, ({ query, limit, range }) => ${content})`,
  },
  'mcp-lite': {
    head: `import { McpServer } from 'mcp-lite'
const server = new McpServer({ name: 'many', version: '1.0.0', schemaAdapter: (schema) => z.toJSONSchema(schema as z.ZodType) })`,
    tool: (name) =>
      `server.tool('${name}', { inputSchema: ${input}, handler: ({ query, limit, range }) => ${content} })`,
  },
  tmcp: {
    head: `import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { McpServer } from 'tmcp'
const server = new McpServer({ name: 'many', version: '1.0.0', description: 'Bench' }, { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } })`,
    tool: (name) =>
      `server.tool({ name: '${name}', description: '${name}', schema: ${input} }, ({ query, limit, range }) => ${content})`,
  },
}

const compilers = {
  'TypeScript 7': '@typescript/native/bin/tsc',
  'TypeScript 6': 'typescript/bin/tsc6',
}
const measures = ['Total time', 'Check time', 'Instantiations', 'Types', 'Memory used'] as const
type Checked = Record<(typeof measures)[number], number>

const folder = new URL('../.cache/bench/types/', import.meta.url)

/** Writes a project with a single file, inside the package, so that it can import the package. */
function writeProject(name: string): string {
  const at = new URL(`${name.replace(' ', '-')}/`, folder)
  mkdirSync(at, { recursive: true })
  const { head, tool } = files[name] ?? { head: '', tool: () => '' }
  const tools = Array.from({ length: COUNT }, (_, index) => tool(`search_${index}`))
  writeFileSync(
    new URL('tools.ts', at),
    ["import * as z from 'zod'", head, ...tools, ''].join('\n;'),
  )
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: ['node'],
  }
  writeFileSync(new URL('tsconfig.json', at), JSON.stringify({ compilerOptions }))
  return fileURLToPath(at)
}

/** Checks a project, which must have no errors. */
function check(compiler: string, at: string): Checked {
  const script = fileURLToPath(new URL(`../node_modules/${compiler}`, import.meta.url))
  const text = execFileSync(process.execPath, [script, '-p', at, '--extendedDiagnostics'], {
    encoding: 'utf8',
  })
  const read = (measure: string): number =>
    Number(new RegExp(`^${measure}:\\s+([\\d.]+)`, 'm').exec(text)?.[1] ?? Number.NaN)
  return Object.fromEntries(measures.map((measure) => [measure, read(measure)])) as Checked
}

export const bench: Bench = {
  title: `A file with ${COUNT} zod tools, checked by tsc --noEmit`,
  tables: async ({ scale }) => {
    const projects = Object.keys(files).map((name) => [name, writeProject(name)] as const)
    return Object.entries(compilers).map(([label, compiler]) => {
      const checked = new Map(projects.map(([name]) => [name, [] as Checked[]]))
      for (let round = 0; round < Math.ceil(2 * scale); round++) {
        for (const [name, at] of projects) checked.get(name)?.push(check(compiler, at))
      }
      const median = (name: string, measure: keyof Checked): number =>
        spread((checked.get(name) ?? []).map((each) => each[measure])).median
      return {
        label,
        goal: 'fewer instantiations than the official SDK',
        head: ['', 'total s', 'check s', 'over the floor', 'instantiations', 'types', 'MB'],
        rows: projects.map(([name]) => [
          name,
          '',
          median(name, 'Total time').toFixed(2),
          median(name, 'Check time').toFixed(2),
          (median(name, 'Check time') / median('floor', 'Check time')).toFixed(2),
          median(name, 'Instantiations').toFixed(0),
          median(name, 'Types').toFixed(0),
          (median(name, 'Memory used') / 1024).toFixed(0),
        ]),
        data: Object.fromEntries(checked),
      }
    })
  },
}
