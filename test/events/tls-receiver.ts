/** Receivers of webhooks behind TLS on this machine, at an address that tests declare public. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { text } from 'node:stream/consumers'
import type { JsonObject } from '../../src/index.ts'
import { selfSigned } from '../runtimes/node/certificate.ts'

/** The address that stands for the public Internet. */
export const PUBLIC = '127.0.0.77'
/** The only name in the certificate. */
export const HOST = 'localhost'

export const { cert, key } = selfSigned()

/** A request, with the names that its connection was made for. */
export interface TlsRequest {
  readonly method: string
  readonly path: string
  readonly host: string | undefined
  readonly serverName: string | false | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: JsonObject
}

/** A receiver that answers challenges, and accepts everything else. */
export interface TlsReceiver {
  readonly port: number
  readonly requests: TlsRequest[]
  /** Headers and status of all answers from now on. */
  status: number
  location: string | undefined
  close(): void
}

/** Starts a receiver. */
export async function startReceiver(): Promise<TlsReceiver> {
  const requests: TlsRequest[] = []
  const server: Server = createServer({ cert, key })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = await text(request)
    const body = sent ? (JSON.parse(sent) as JsonObject) : {}
    const { method = '', url: path = '', headers } = request
    const serverName = (request.socket as TLSSocket & { servername?: string }).servername
    requests.push({ method, path, host: headers.host, serverName, headers, body })
    if (path === '/silent') return
    const isRedirect = path === '/redirect'
    const location = isRedirect ? `https://${headers.host}/in` : receiver.location
    if (location !== undefined) response.setHeader('location', location)
    response.writeHead(isRedirect ? 302 : receiver.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ challenge: body.challenge }))
  }
  server.on('request', (request, response) => void answer(request, response))
  server.listen(0, PUBLIC)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  const receiver: TlsReceiver = { port, requests, status: 200, location: undefined, close }
  return receiver
}
