/** The floor over stdio: a bare loop that parses each line and answers with the right JSON. */
import { answer, type Call } from '../floor-answer.ts'

let rest = ''
process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop() ?? ''
  for (const line of lines) {
    const call = JSON.parse(line) as Call
    if (call.id !== undefined) process.stdout.write(`${answer(call)}\n`)
  }
})
