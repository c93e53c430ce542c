/**
 * The everything-server on Deno: listens on a free port and prints its endpoint.
 */
import { serve } from '../runtimes/deno/index.ts'
import { createEverythingServer } from './everything.ts'

console.log((await serve(createEverythingServer(), { port: 0 })).url)
