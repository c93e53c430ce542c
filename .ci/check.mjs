// Runs all static checks, as many at once as the machine has cores, and prints what the failed ones
// printed.
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'

// Of those that can start, the first starts next
const waiting = [
  { command: 'npm run types', after: [] },
  { command: 'npm run bundle', after: [] },
  { command: 'npm run package', after: ['npm run types', 'npm run bundle'] },
  { command: 'oxlint', after: ['npm run types'] },
  { command: 'npm run reference -- --emit none', after: [] },
  { command: 'npm run exports', after: [] },
  { command: 'npm run wording', after: [] },
  { command: 'npm run size', after: ['npm run bundle'] },
  { command: 'oxfmt --check .', after: [] },
]
const passed = new Set()
let running = 0

function startNext() {
  while (running < availableParallelism()) {
    const next = waiting.findIndex(({ after }) => after.every((command) => passed.has(command)))
    if (next < 0) return
    start(waiting.splice(next, 1)[0].command)
  }
}

function start(command) {
  running++
  const startedMs = Date.now()
  const output = []
  // Packing must not build again while other checks read `dist`
  const env = { ...process.env, npm_config_ignore_scripts: 'true' }
  const child = spawn(command, { shell: true, env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => output.push(data))
  }
  child.on('close', (code) => {
    running--
    if (code === 0) passed.add(command)
    else process.exitCode = 1
    const seconds = ((Date.now() - startedMs) / 1000).toFixed(1)
    console.log(`${code === 0 ? 'passed' : 'FAILED'}: ${command} (${seconds} s)`)
    if (code !== 0) process.stdout.write(Buffer.concat(output))
    startNext()
    if (running > 0) return
    for (const { command } of waiting) console.log(`not run: ${command}`)
  })
}

startNext()
