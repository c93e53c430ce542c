// A program under test: what is written to it, what it says, how it ends.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { build } from 'esbuild'
import { expect, vi } from 'vitest'
import { PATIENCE } from '../../../patience.ts'
import { commandOf } from '../../../process.ts'
import { root } from '../../../root.ts'

/** A message that a program sent. */
export type Message = Record<string, unknown> & { result?: Record<string, unknown> }

/** How a program ended. */
export interface End {
  code: number | null
  signal: string | null
}

/** A running program that serves MCP over stdio. */
export class Program {
  readonly child: ChildProcessWithoutNullStreams
  /** What it wrote to stdout, without the line ends. */
  readonly lines: string[] = []
  stderr = ''
  readonly ended: Promise<End>
  readonly #messages: Message[] = []
  #rest = ''

  constructor(words: readonly string[]) {
    const [command, ...args] = commandOf(words)
    this.child = spawn(command, args, { cwd: root })
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const [first = '', ...others] = text.split('\n')
      this.#rest += first
      for (const line of others) {
        this.lines.push(this.#rest)
        this.#rest = line
      }
    })
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.child.stdin.on('error', () => {})
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) => resolve({ code, signal }))
    })
  }

  /** What it wrote to stdout. Throws when a line is no JSON. */
  get messages(): Message[] {
    for (const line of this.lines.slice(this.#messages.length)) {
      this.#messages.push(JSON.parse(line) as Message)
    }
    return this.#messages
  }

  write(...messages: object[]): void {
    this.child.stdin.write(messages.map((message) => JSON.stringify(message) + '\n').join(''))
  }

  /** Waits for the response with an id. */
  response(id: unknown): Promise<Message> {
    return vi.waitFor(() => {
      const found = this.messages.find((message) => message.id === id)
      expect(found, `No response to ${JSON.stringify(id)}. Logged:\n${this.stderr}`).toBeDefined()
      return found!
    }, PATIENCE)
  }

  /** Waits until it has said something on stderr. */
  said(text: string): Promise<void> {
    return vi.waitFor(() => expect(this.stderr).toContain(text), PATIENCE)
  }

  /** Opens a session of the newest legacy revision. */
  async initialize(): Promise<void> {
    this.write(INITIALIZE)
    await this.response('init')
    this.write({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }
}

/** Opens a session. */
export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'init',
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1.0.0' },
  },
}

/** Calls a tool. */
export function call(id: unknown, name: string, args: object = {}): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }
}

/** Bundles a program, because loading its sources each time would take most of a test's time. */
export async function bundleForNode(file: string): Promise<string> {
  const outfile = `${root}.cache/test-stdio/${file.replace(/\.ts$/, '.mjs')}`
  await build({
    entryPoints: [`${root}test/runtimes/transport/stdio/${file}`],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
  })
  return outfile
}

/** Calls a tool without a session, in 2026-07-28. */
export function modernCall(id: unknown, name: string, args: object = {}): object {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    'io.modelcontextprotocol/logLevel': 'debug',
  }
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, _meta } }
}
