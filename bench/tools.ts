/** The tools that every SDK serves in the benchmarks, with their zod schemas. */
import * as z from 'zod'

/** The input of the echo tool. */
export const echoInput = z.object({ text: z.string() })

/** The name and description of the echo tool. */
export const echo = { name: 'echo', description: 'Answers with the text it was given' }

const searchInput = () =>
  z.object({
    query: z.string().min(1).describe('Words to look for'),
    limit: z.number().int().min(1).max(100).describe('Most matches to return').optional(),
    kind: z.enum(['file', 'folder', 'link']).describe('Kind of entry').optional(),
    tags: z.array(z.string()).describe('Labels that a match must carry').optional(),
    range: z.object({ from: z.string(), to: z.string() }).describe('Dates between').optional(),
  })

/** One of many tools, with a schema about as large as those of real servers. */
interface SearchTool {
  name: string
  description: string
  input: ReturnType<typeof searchInput>
}

/** A number of tools, each with its own schema. */
export function searchTools(count: number): SearchTool[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `search_${index}`,
    description: `Searches collection ${index} and answers with the matches, best first`,
    input: searchInput(),
  }))
}

/** The tool that returns a text of the requested size in bytes. */
export const large = { name: 'large', description: 'Answers with as many bytes as asked for' }

/** The input of the large tool. */
export const largeInput = z.object({ bytes: z.number().int() })

/**
 * The tool that reports the requested number of steps, yields the thread after every fifth, and returns
 * `done`.
 */
export const progress = { name: 'progress', description: 'Reports progress, then says done' }

/** The input of the progress tool. */
export const progressInput = z.object({ steps: z.number().int() })

/** Calls `report` for each step. */
export async function eachStep(steps: number, report: (step: number) => unknown): Promise<'done'> {
  for (let step = 1; step <= steps; step++) {
    await report(step)
    if (step % 5 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return 'done'
}
