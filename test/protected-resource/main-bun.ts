import { serve } from '../../runtimes/bun/index.ts'
import { protection } from './runtime-server.ts'
import { makeServer } from './endpoint.ts'

const { url } = await serve(makeServer().server, { auth: protection(process.argv[2]) })
console.log(url)
