#!/usr/bin/env node
/**
 * The program `edgewise`: calls a server of any revision from a terminal or a script.
 */
import { listenForInterruptions } from './interrupted.ts'
import { runCommand } from './run.ts'

listenForInterruptions()
const words = process.argv.slice(2)
process.exitCode = await runCommand(words)
// The module of a card may have started a server, which must not keep the program running
if (words[0] === 'card' || words[0] === 'registry-entry')
  process.stdout.write('', () => process.exit())
