/**
 * What the program can do, in its own words.
 */

/** Thrown for a command line that makes no sense; told with the way to the help. */
export class UsageError extends Error {}

/** The commands, with the arguments that follow the server. */
export const commands = {
  list: ['[tools|resources|templates|prompts]', 'what the server offers'],
  call: ['<tool> [name=value …]', 'run a tool; name:=value takes JSON'],
  read: ['<uri>', 'print a resource; bytes go to a file or a pipe'],
  prompt: ['<name> [name=value …]', 'print a prompt, its arguments filled in'],
  listen: ['[--resource <uri>]', 'print what the server tells, until interrupted'],
  inspect: ['[--port <n>]', 'open the playground on the server'],
  bridge: ['[--port <n>]', 'serve a URL over stdio, or a program over HTTP'],
  new: ['<template> <folder>', 'start a project: browser, deno, node, workers'],
} as const

/** The name of a command. */
export type CommandName = keyof typeof commands

const lines = Object.entries(commands)
  .map(([name, [args, meaning]]) => `  ${`${name} ${args}`.padEnd(41)} ${meaning}`)
  .join('\n')

/** The help. */
export const usage: string = `Usage: edgewise <command> <url> [arguments] [options]
       edgewise <command> [arguments] [options] -- <program> [its arguments]
       edgewise new <template> <folder>

Commands
${lines}

Options
  --json               print results as JSON
  --args <json>        arguments of a call or a prompt; - reads standard input
  --header <name: v>   an HTTP header; may be repeated
  --token <token>      a bearer token, also from EDGEWISE_TOKEN
  --sign-in            sign in with the browser when the server asks for it
  --revision <date>    speak only this revision
  --timeout-ms <n>     the longest silence of a request; 60000 by default
  --env <name=value>   a variable for the program; may be repeated
  --cwd <folder>       where the program runs
  --yes                agree to what the server asks in forms, with the defaults
  --verbose            print problems that no answer tells of
  --help, --version

Exit status: 0 done; 1 the server refused or a tool failed; 2 wrong usage; 3 no connection.
`
