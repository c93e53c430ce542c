#!/usr/bin/env node
/**
 * The program `edgewise`: calls a server of any revision from a terminal or a script.
 */
import { listenForInterruptions } from './interrupted.ts'
import { runCommand } from './run.ts'

listenForInterruptions()
process.exitCode = await runCommand(process.argv.slice(2))
