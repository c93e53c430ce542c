/**
 * `edgewise complete`: prints completions for an argument of a prompt, or for a variable of a resource template.
 */
import type { CompletionReference } from '../../../src/index.ts'
import type { Invocation } from './arguments.ts'
import { interruption as signal } from './interrupted.ts'
import { open } from './open.ts'
import { oneLine, print, printJson, printNotice } from './print.ts'
import { UsageError } from './usage.ts'

/** Prints one value per line. If the server has more values than it has sent, also prints how many. */
export async function complete(invocation: Invocation): Promise<number> {
  const [nameOrTemplate, ...words] = invocation.commandArguments
  if (nameOrTemplate === undefined) throw new UsageError('Specify a prompt or a resource template')
  const [argument, ...others] = words.map(parsePair)
  if (!argument)
    throw new UsageError('Specify an argument to complete, such as city=R, or city= for all')
  const [name, value] = argument
  const ref: CompletionReference = nameOrTemplate.includes('{')
    ? { type: 'ref/resource', uri: nameOrTemplate }
    : { type: 'ref/prompt', name: nameOrTemplate }
  await using client = await open(invocation)
  const completion = await client.complete(ref, { name, value }, Object.fromEntries(others), {
    signal,
  })
  if (invocation.options.json) {
    printJson(completion)
    return 0
  }
  const { values, total, hasMore } = completion
  for (const completed of values) print(oneLine(completed))
  if (hasMore)
    printNotice(
      total === undefined ? 'There are more values' : `There are ${total} values in total`,
    )
  return 0
}

function parsePair(word: string): [name: string, value: string] {
  const nameEnd = word.indexOf('=')
  if (nameEnd < 1) throw new UsageError(`"${word}" is not of the form name=value`)
  return [word.slice(0, nameEnd), word.slice(nameEnd + 1)]
}
