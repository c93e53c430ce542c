/** Forked by the benchmark of HTTP on Node: serves one subject on a port. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { serve } from 'edgewise/node'
import { answer, type Call } from './floor-answer.ts'
import type { Way } from './subject.ts'
import { createEdgewise } from './subjects/edgewise-server.ts'
import { type SubjectName, subjects } from './subjects/index.ts'

const [name, way] = process.argv.slice(2) as [SubjectName, Way]

const floor: RequestListener = (incoming, outgoing) => {
  let text = ''
  incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  incoming.on('end', () => {
    const body = answer(JSON.parse(text) as Call)
    const head = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    outgoing.writeHead(200, head).end(body)
  })
}

/** Subjects without their own Node adapter use that of the official SDK. */
async function listener(): Promise<RequestListener> {
  if (name === 'floor') return floor
  const { subject } = await subjects[name]()
  const handle = subject[way]?.('echo')
  if (!handle) throw new Error(`"${name}" does not serve "${way}"`)
  const answer = toNodeHandler({ fetch: handle })
  return (incoming, outgoing) => {
    const { method = 'GET', url = '/' } = incoming
    void answer(Object.assign(incoming, { method, url }), outgoing)
  }
}

async function listen(): Promise<number> {
  if (name === 'edgewise') return (await serve(createEdgewise('echo'))).port
  const http = createServer(await listener())
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return (http.address() as AddressInfo).port
}

process.send?.(await listen())
