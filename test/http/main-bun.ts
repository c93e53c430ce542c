import { serve } from '../../runtimes/bun/index.ts'
import { testServer } from './server.ts'

const { url, close } = serve(testServer(), { maxBodyBytes: 100_000, keepAliveMs: 0 })
console.log(url)
process.stdin.once('data', () => void close().then(() => console.log('closed')))
