/**
 * `edgewise prompt`: prints a prompt with its arguments filled in.
 */
import type { Invocation } from './arguments.ts'
import { interruption as signal } from './interrupted.ts'
import { open } from './open.ts'
import { indented, textOf, oneLine, print, printJson } from './print.ts'
import { UsageError } from './usage.ts'
import { readObject, readValues } from './values.ts'

/** Prints the messages with their roles. */
export async function prompt(invocation: Invocation): Promise<number> {
  const [name, ...words] = invocation.commandArguments
  if (name === undefined) throw new UsageError('Specify a prompt')
  const argsOption = await readObject(invocation.options.args)
  const texts = readValues(words, {}, argsOption)
  const args = Object.fromEntries(
    Object.entries(texts).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
  await using client = await open(invocation)
  const result = await client.getPrompt(name, args, { signal })
  if (invocation.options.json) printJson(result)
  else
    for (const { role, content } of result.messages)
      print(`${oneLine(role)}: ${indented(textOf(content))}`)
  return 0
}
