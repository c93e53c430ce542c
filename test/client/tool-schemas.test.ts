import { expect, test } from 'vitest'
import { ToolSchemas } from '../../src/client/tool-schemas.ts'
import type { Tool } from '../../src/protocol/types.ts'

const tool = (name: string): Tool => ({
  name,
  inputSchema: { type: 'object' },
  outputSchema: { type: 'object' },
})

test('a client remembers the tools of two lists only, so that new names do not fill its memory [S013]', () => {
  const schemas = new ToolSchemas()
  schemas.storePage([tool('a')], true)
  schemas.storePage([tool('b')], false)
  // While a list is fetched again, calls still find the tools of the previous one
  schemas.storePage([tool('c')], true)
  expect(['a', 'b', 'c'].map((name) => schemas.output(name) !== undefined)).toEqual([
    true,
    true,
    true,
  ])
  schemas.storePage([tool('d')], true)
  expect(['a', 'b', 'c', 'd'].map((name) => schemas.output(name) !== undefined)).toEqual([
    false,
    false,
    true,
    true,
  ])
})
