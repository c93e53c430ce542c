/** Forked by the fetch benches: calls one subject's handler in process. */
import { serveRounds } from './child.ts'
import { handshake, template, url } from './requests.ts'
import type { ToolSet, Way } from './subject.ts'
import { subjects, type SubjectName } from './subjects/index.ts'

const [name, way, set] = process.argv.slice(2) as [SubjectName, Way, ToolSet]

const { subject } = await subjects[name]()
const handle = subject[way]?.(set)
if (!handle) throw new Error(`"${name}" does not serve "${way}"`)

const legacy = way === 'modern' ? undefined : await handshake(handle)
if ((way === 'session') !== (legacy?.sessionId !== undefined)) {
  throw new Error(`"${name}" was to be "${way}" but answered with session "${legacy?.sessionId}"`)
}

const text = 'The quick brown fox jumps over the lazy dog'
const { headers, body } =
  set === 'echo'
    ? template('tools/call', { name: 'echo', arguments: { text } }, legacy)
    : template('tools/list', {}, legacy)
const expected = set === 'echo' ? `"text":"${text}"` : '"search_99"'

let id = 0
serveRounds(legacy ? `${way} ${legacy.revision}` : way, async (calls) => {
  let last = ''
  for (let call = 0; call < calls; call++) {
    const response = await handle(new Request(url, { method: 'POST', headers, body: body(++id) }))
    last = await response.text()
  }
  if (!last.includes(expected) || !last.includes(`"id":${id}`)) {
    throw new Error(`"${name}" answered ${last}`)
  }
})
