import { serve } from '../../../../runtimes/deno/index.ts'
import { testServer } from './server.ts'

const { url, port, close } = await serve(testServer(), { maxBodyBytes: 100_000, keepAliveMs: 0 })
console.log(url)
try {
  await serve(testServer(), { port })
} catch (error) {
  console.log(String(error))
}
const { Deno } = globalThis as unknown as {
  Deno: { stdin: { read(into: Uint8Array): Promise<unknown> } }
}
await Deno.stdin.read(new Uint8Array(1))
await close()
console.log('closed')
