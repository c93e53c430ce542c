/**
 * Asks the user of `create-edgewise` questions.
 */
import { createInterface } from 'node:readline/promises'

/**
 * Asks a question at the terminal.
 *
 * @returns The answer; `undefined` if the user has cancelled the question.
 */
export async function askAtTerminal(question: string): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const cancelled = new AbortController()
  // Ctrl-C closes the terminal, as Ctrl-D does
  terminal.once('SIGINT', () => terminal.close())
  terminal.once('close', () => cancelled.abort())
  try {
    return await terminal.question(question, { signal: cancelled.signal })
  } catch (error) {
    if (cancelled.signal.aborted) return undefined
    throw error
  } finally {
    terminal.close()
  }
}
