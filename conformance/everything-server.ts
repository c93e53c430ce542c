/**
 * The everything-server on Node: listens on a free port and prints its endpoint.
 */
import { serveHttp } from '../runtimes/node/index.ts'
import { createEverythingServer } from './everything.ts'

const { url } = await serveHttp(createEverythingServer(), { port: 0 })
console.log(url)
