// The portable suite: the same tests on Node, workerd, Deno, Bun and Chromium.
import { revisions, validateMessage } from 'edgewise'
import { equal, ok, type Suite } from './harness.ts'

export const suite: Suite = {
  'All five revisions are known, newest first': () => {
    equal(
      revisions.map((revision) => revision.version),
      ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
    )
  },

  'A message with the wrong version of JSON-RPC is refused': () => {
    try {
      validateMessage({ jsonrpc: '1.0', id: 1, method: 'ping' })
    } catch (error) {
      return ok(error instanceof Error, 'Threw something that is no Error')
    }
    throw new Error('The message was taken')
  },
}
