import { serveHttp } from '../../runtimes/node/index.ts'
import { testServer } from './server.ts'

const { url, close } = await serveHttp(testServer(), { maxBodyBytes: 100_000, keepAliveMs: 0 })
console.log(url)
process.stdin.once('data', () => void close().then(() => console.log('closed')))
