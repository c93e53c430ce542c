import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nodeCommand } from '../../../node-program.ts'
import { edgewise } from './run.ts'

const taken = createServer()
let port: string

beforeAll(async () => {
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  port = String((taken.address() as AddressInfo).port)
})
afterAll(() => void taken.close())

it.each(['bridge', 'inspect'])('%s reports in one line that its port is taken', async (command) => {
  const program = ['--', ...nodeCommand('test/runtimes/node/cli/stdio.ts')]
  const { code, err } = await edgewise(command, '--port', port, ...program)
  expect(code).toBe(1)
  expect(err).toBe(`Cannot listen on 127.0.0.1:${port}: the port is taken (INVALID_USE)\n`)
})
