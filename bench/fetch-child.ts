/** Forked by the fetch benchmarks: runs one scenario on one subject's handler, in process. */
import { serveRounds } from './child.ts'
import type { SentLength } from './fetch.ts'
import { handshake, template, url } from './requests.ts'
import { type Scenario, type ScenarioName, scenarios } from './scenarios.ts'
import type { Way } from './subject.ts'
import { type SubjectName, subjects } from './subjects/index.ts'

const [name, way, scenario, sentLength] = process.argv.slice(2) as [
  SubjectName,
  Way,
  ScenarioName,
  SentLength,
]
const { tools, method, params, answered, concurrent = 1 }: Scenario = scenarios[scenario]

const { subject } = await subjects[name]()
const handle = subject[way]?.(tools)
if (!handle) throw new Error(`"${name}" does not serve "${way}"`)

const legacy = way === 'modern' ? undefined : await handshake(handle)
if ((way === 'session') !== (legacy?.sessionId !== undefined)) {
  throw new Error(`"${name}" was to be "${way}" but answered with session "${legacy?.sessionId}"`)
}
const { headers, body } = template(method, params, legacy)

let id = 0
async function call(): Promise<string> {
  const text = body(++id)
  const sent =
    sentLength === 'with length' ? { ...headers, 'content-length': `${text.length}` } : headers
  const response = await handle!(new Request(url, { method: 'POST', headers: sent, body: text }))
  return response.text()
}

serveRounds(legacy ? `${way} ${legacy.revision}` : way, async (calls) => {
  let last = ''
  for (let done = 0; done < calls; done++) {
    last =
      concurrent === 1
        ? await call()
        : ((await Promise.all(Array.from({ length: concurrent }, call))).at(-1) ?? '')
  }
  if (!answered(last) || !last.includes(`"id":${id}`)) {
    throw new Error(`"${name}" answered ${last.slice(0, 2000)}`)
  }
})
