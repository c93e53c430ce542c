// https://cheatsheetseries.owasp.org/cheatsheets/Server_Side_Request_Forgery_Prevention_Cheat_Sheet.html
import { afterEach, describe, expect, it } from 'vitest'
import { cert, PUBLIC, startReceiver, type TlsReceiver } from '../../events/tls-receiver.ts'
import { runLines } from '../../process.ts'

let receiver: TlsReceiver
afterEach(() => receiver.close())

describe('A request to a webhook', () => {
  it.each([['tsx'], ['deno', 'run', '-A', '--quiet'], ['bun']])(
    'connects to the checked address with the name of the URL, follows no redirect and ends in time: %s [E-EVT-161] [E-EVT-198] [E-EVT-199] [E-EVT-200]',
    async (...command) => {
      receiver = await startReceiver()
      const lines: string[] = []
      const program = 'test/runtimes/node/webhook-program.ts'
      await runLines([...command, program, String(receiver.port), cert, PUBLIC], (line) =>
        lines.push(line),
      )
      expect(lines).toEqual([
        '200 {"challenge":"☕"}',
        '302 {"challenge":"☕"}',
        expect.stringMatching(/^TimeoutError /),
        'Error ERR_TLS_CERT_ALTNAME_INVALID',
        'Error DEPTH_ZERO_SELF_SIGNED_CERT',
        'SdkError DENIED',
        'SdkError DENIED',
        'SdkError DENIED',
        'SdkError DENIED',
      ])
      const host = `localhost:${receiver.port}`
      expect(receiver.requests).toMatchObject([
        { method: 'POST', path: '/in?k=1', host, serverName: 'localhost' },
        { path: '/redirect' },
        { path: '/silent' },
      ])
    },
  )
})
