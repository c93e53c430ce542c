// What the proxy of `edgewise inspect` asks the user for, and what not.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import type { AuthProvider } from '../../../../src/presets/client.ts'
import { createProxy } from '../../../../runtimes/node/cli/proxy.ts'

it('the proxy of inspect ends a stream whose server goes away, and reports that', async () => {
  const http = createServer((_request, response) => {
    response.setHeader('content-type', 'text/event-stream').write(': hello\n\n')
    response.write('', () => response.destroy())
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  const errors: unknown[] = []
  const options = { headers: new Headers(), auth: undefined }
  const proxy = createProxy(url, options, (error) => errors.push(error))
  const response = await proxy(new Request(url, { method: 'POST', body: '{}' }))
  expect(await response.text()).toBe(': hello\n\n')
  expect(errors).toHaveLength(1)
  http.close()
})

it('the proxy of inspect lets only what the user does start a sign-in [C006]', async () => {
  const http = createServer((_request, response) => response.writeHead(401).end())
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  const asked: string[] = []
  const auth: AuthProvider = {
    headers: () => ({}),
    onChallenge(_response, { method, background }) {
      asked.push(`${method} ${background ? 'background' : 'user'}`)
      return false
    },
  }
  const proxy = createProxy(url, { headers: new Headers(), auth }, () => {})
  const session = { 'mcp-session-id': 's' }
  const requests: RequestInit[] = [
    { method: 'POST', body: '{}', headers: session },
    { method: 'GET', headers: session },
    { method: 'DELETE', headers: session },
    // What connects to a server of 2024-11-05
    { method: 'GET' },
  ]
  for (const init of requests) expect((await proxy(new Request(url, init))).status).toBe(502)
  expect(asked).toEqual(['POST user', 'GET background', 'DELETE background', 'GET user'])
  http.close()
})
