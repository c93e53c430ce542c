/**
 * `edgewise call`: calls a tool.
 */
import type { ProgressParams } from '../../../src/index.ts'
import { taskPolling } from '../../../src/tasks/index.ts'
import type { Invocation } from './arguments.ts'
import { interruption as signal } from './interrupted.ts'
import { open } from './open.ts'
import { printJson, printResult, progressBar } from './print.ts'
import { UsageError } from './usage.ts'
import { readObject, readValues } from './values.ts'

/** Calls a tool. The exit status is 1 if the tool failed. */
export async function call(invocation: Invocation): Promise<number> {
  const { commandArguments, options } = invocation
  const [name, ...words] = commandArguments
  if (name === undefined) throw new UsageError('Specify a tool')
  const argsOption = await readObject(options.args)
  // If the tool runs as a task, the extension polls the task until it has ended
  await using client = await open(invocation, { extensions: [taskPolling()] })
  let schema = {}
  if (words.length > 0) {
    for await (const tool of client.tools({ signal }))
      if (tool.name === name) schema = tool.inputSchema
  }
  const args = readValues(words, schema, argsOption)
  const bar = progressBar()
  const onProgress = (progress: ProgressParams): void => bar.show(progress)
  const result = await client
    .callTool(name, args, { signal, onProgress })
    .finally(() => bar.clear())
  if (options.json) printJson(result)
  else printResult(result)
  return result.isError ? 1 : 0
}
