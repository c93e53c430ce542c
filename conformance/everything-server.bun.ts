/**
 * The everything-server on Bun: listens on a free port and prints its endpoint.
 */
import { serve } from '../runtimes/bun/index.ts'
import { createEverythingServer } from './everything.ts'

console.log((await serve(createEverythingServer(), { port: 0 })).url)
