#!/usr/bin/env node
/**
 * The program `create-edgewise`, which `npm create edgewise@latest` runs.
 */
import { thisMachine } from '../install.ts'
import { askAtTerminal } from './ask.ts'
import { runCreate } from './create.ts'
import { installPackages } from './packages.ts'

process.exitCode = await runCreate(process.argv.slice(2), {
  machine: thisMachine(),
  templatesFolder: new URL('templates/', import.meta.url),
  ask: process.stdin.isTTY ? askAtTerminal : undefined,
  installPackages,
})
