/**
 * Listens with `node:http`.
 *
 * @see https://nodejs.org/api/net.html#serverlisten
 */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listenFault } from '#internal/http'

/**
 * Resolves with the port when the server listens.
 *
 * @throws {SdkError} `INVALID_USE` if the port is taken.
 */
export async function listen(http: Server, port: number, hostname: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    http
      .on('error', (error) => reject(listenFault(error, hostname, port)))
      .listen(port, hostname, resolve)
  })
  return (http.address() as AddressInfo).port
}
