/** Forked by the memory benchmark: loads one subject and samples the heap periodically. */
import { handshake, template, url } from './requests.ts'
import { scenarios } from './scenarios.ts'
import { type SubjectName, subjects } from './subjects/index.ts'

const [name, kind, perSample, sampleCount] = process.argv.slice(2) as [
  SubjectName,
  string,
  string,
  string,
]
const { method, params, answered } = scenarios.echo

const { subject } = await subjects[name]()
const handle = subject.session?.('echo')
if (!handle) throw new Error(`"${name}" has no sessions`)

async function open(): Promise<(id: number) => Promise<void>> {
  const { headers, body } = template(method, params, await handshake(handle!))
  return async (id) => {
    const response = await handle!(new Request(url, { method: 'POST', headers, body: body(id) }))
    const text = await response.text()
    if (!answered(text)) throw new Error(`"${name}" answered ${text}`)
  }
}

function heapMb(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 2 ** 20
}

const call = await open()
for (let id = 1; id <= 1000; id++) await call(id)
const before = heapMb()
const mb: number[] = []
for (let sample = 0; sample < Number(sampleCount); sample++) {
  for (let done = 0; done < Number(perSample); done++) {
    if (kind === 'calls') await call(done)
    else await (await open())(1)
  }
  mb.push(heapMb() - before)
}
process.send?.(mb)
