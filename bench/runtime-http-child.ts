/** Run by the benchmark of HTTP on Deno and Bun: serves one subject on a port, and prints the port. */
import type { Handler, Way } from './subject.ts'
import { createEdgewise } from './subjects/edgewise-server.ts'
import { type SubjectName, subjects } from './subjects/index.ts'

declare const Deno:
  | { serve(options: object, handle: Handler): { readonly addr: { readonly port: number } } }
  | undefined
declare const Bun: { serve(options: object): { readonly port: number } }

const [name, way] = process.argv.slice(2) as [SubjectName, Way]
const options = { port: 0, hostname: '127.0.0.1' }

async function listen(): Promise<number> {
  if (name === 'edgewise') {
    // Each refers to its runtime when it is loaded
    const { serve } =
      typeof Deno === 'undefined' ? await import('edgewise/bun') : await import('edgewise/deno')
    return (await serve(createEdgewise('echo'), options)).port
  }
  const { subject } = await subjects[name]()
  const handle = subject[way]?.('echo')
  if (!handle) throw new Error(`"${name}" does not serve "${way}"`)
  if (typeof Deno !== 'undefined') {
    return Deno.serve({ ...options, onListen: () => {} }, (request) => handle(request)).addr.port
  }
  return Bun.serve({ ...options, fetch: (request: Request) => handle(request) }).port
}

console.log(await listen())
