/** Forked by the in-memory benchmark: calls one subject's echo tool. */
import { serveRounds } from './child.ts'
import { subjects } from './subjects/in-memory.ts'

const [name = ''] = process.argv.slice(2)
const echo = await subjects[name]?.()
if (!echo) throw new Error(`Unknown subject: "${name}"`)

serveRounds('linked pair', async (calls) => {
  let text = ''
  for (let call = 0; call < calls; call++) text = await echo(`hello ${call}`)
  if (text !== `hello ${calls - 1}`) throw new Error(`"${name}" answered ${text}`)
})
