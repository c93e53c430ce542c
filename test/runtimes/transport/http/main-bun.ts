import { serve } from '../../../../runtimes/bun/index.ts'
import { testServer } from './server.ts'

const { url, port, close } = await serve(testServer(), { maxBodyBytes: 100_000, keepAliveMs: 0 })
console.log(url)
try {
  await serve(testServer(), { port })
} catch (error) {
  console.log(String(error))
}
process.stdin.once('data', () => void close().then(() => console.log('closed')))
