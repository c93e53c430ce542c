/**
 * `edgewise read`: prints a resource.
 */
import { isResourceContents } from '#internal/protocol'
import type { Invocation } from './arguments.ts'
import { interruption as signal } from './interrupted.ts'
import { open } from './open.ts'
import { print, printJson, printNotice } from './print.ts'
import { UsageError } from './usage.ts'

/** Prints the contents of a resource. Text is always printed, but bytes only if standard output is not a terminal. */
export async function read(invocation: Invocation): Promise<number> {
  const [uri, ...others] = invocation.commandArguments
  if (uri === undefined || others.length > 0)
    throw new UsageError('Specify the URI of one resource')
  await using client = await open(invocation)
  const result = await client.readResource(uri, { signal })
  if (invocation.options.json) {
    printJson(result)
    return 0
  }
  for (const contents of result.contents) {
    if (!isResourceContents(contents)) {
      printNotice(`Invalid contents: ${JSON.stringify(contents)}`)
      continue
    }
    if ('text' in contents) {
      if (process.stdout.isTTY) print(contents.text)
      else process.stdout.write(contents.text)
      continue
    }
    const bytes = Buffer.from(contents.blob, 'base64')
    if (process.stdout.isTTY)
      printNotice(`[${contents.uri}, ${bytes.byteLength} bytes: redirect them to a file]`)
    else process.stdout.write(bytes)
  }
  return 0
}
