/**
 * One stdio server for several clients, as a multiplexer of a host lets them share it: ids are made
 * unique on their way in and given back on their way out.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

import { commandOf, type Pipe, type Target } from './contract.ts'

/** A message, as far as the multiplexer looks into it. */
type Frame = { id?: unknown; method?: unknown }

/** A process, and the way of each client to it. */
export interface SharedPipe extends AsyncDisposable {
  /** The id of the process. */
  readonly pid: number | undefined
  /** A transport for one client. What the server asks goes to the one that is opened last. */
  open(): Pipe
}

/** Starts a server. */
export function sharedPipe(target: Target): SharedPipe {
  const { command, args } = commandOf(target)
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = new Promise<void>((resolve) => void child.on('exit', () => resolve()))
  const waiting = new Map<unknown, { pipe: Pipe; id: unknown }>()
  let newest: Pipe | undefined
  let lastId = 0

  createInterface({ input: child.stdout }).on('line', (line) => {
    const frame = JSON.parse(line) as Frame
    const origin = frame.method === undefined ? waiting.get(frame.id) : undefined
    if (origin) origin.pipe.onmessage?.({ ...frame, id: origin.id })
    else newest?.onmessage?.(frame)
  })

  return {
    pid: child.pid,
    open() {
      const pipe: Pipe = {
        start: () => Promise.resolve(),
        send(message) {
          let frame: Frame = message
          if (frame.method !== undefined && frame.id !== undefined) {
            waiting.set(++lastId, { pipe, id: frame.id })
            frame = { ...frame, id: lastId }
          }
          child.stdin.write(`${JSON.stringify(frame)}\n`)
          return Promise.resolve()
        },
        close: () => Promise.resolve(pipe.onclose?.()),
      }
      return (newest = pipe)
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await exited
    },
  }
}
