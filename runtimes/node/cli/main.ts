#!/usr/bin/env node
/**
 * The program `edgewise`: talks to a server of any revision from a terminal or a script.
 */
import { runCommand } from './run.ts'

process.exitCode = await runCommand(process.argv.slice(2))
