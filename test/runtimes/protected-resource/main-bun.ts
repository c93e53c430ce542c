import { serve } from '../../../runtimes/bun/index.ts'
import { protection } from './server.ts'
import { makeServer } from '../../protected-resource/endpoint.ts'

const { url } = await serve(makeServer().server, { auth: protection(process.argv[2]) })
console.log(url)
