/**
 * The everything-server on Node: listens on a free port and prints its endpoint.
 */
import { serve } from '../runtimes/node/index.ts'
import { createEverythingServer } from './everything.ts'

const { url } = await serve(createEverythingServer(), { port: 0 })
console.log(url)
