/** Forked by the benchmark of HTTP on Node: serves one subject on a port. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve, toNodeListener } from 'edgewise/node'
import { answer, modernMembers, type Call } from './floor-answer.ts'
import type { Way } from './subject.ts'
import { createEdgewise } from './subjects/edgewise-server.ts'
import { type SubjectName, subjects } from './subjects/index.ts'

const [name, way] = process.argv.slice(2) as [SubjectName, Way]

const floor: RequestListener = (incoming, outgoing) => {
  let text = ''
  incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  incoming.on('end', () => {
    const body = answer(JSON.parse(text) as Call, modernMembers)
    const head = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    outgoing.writeHead(200, head).end(body)
  })
}

/** Other SDKs are behind the same bridge as Edgewise, so that only their handlers differ. */
async function listener(): Promise<RequestListener> {
  if (name === 'floor') return floor
  const { subject } = await subjects[name]()
  const handle = subject[way]?.('echo')
  if (!handle) throw new Error(`"${name}" does not serve "${way}"`)
  return toNodeListener(handle)
}

async function listen(): Promise<number> {
  if (name === 'edgewise') return (await serve(createEdgewise('echo'))).port
  const http = createServer(await listener())
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return (http.address() as AddressInfo).port
}

process.send?.(await listen())
process.on('message', () => {
  globalThis.gc?.()
  process.send?.(process.memoryUsage().heapUsed / 1e6)
})
