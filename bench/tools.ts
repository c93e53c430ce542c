/** The tools that every SDK serves in the benches, with their zod schemas. */
import * as z from 'zod'

/** Input of the echo tool. */
export const echoInput = z.object({ text: z.string() })

/** Name and description of the echo tool. */
export const echo = { name: 'echo', description: 'Answers with the text it was given' }

const searchInput = () =>
  z.object({
    query: z.string().min(1).describe('Words to look for'),
    limit: z.number().int().min(1).max(100).describe('Most matches to return').optional(),
    kind: z.enum(['file', 'folder', 'link']).describe('Kind of entry').optional(),
    tags: z.array(z.string()).describe('Labels that a match must carry').optional(),
    range: z.object({ from: z.string(), to: z.string() }).describe('Dates between').optional(),
  })

/** A tool of many, its schema about as large as those of real servers. */
interface SearchTool {
  name: string
  description: string
  input: ReturnType<typeof searchInput>
}

/** So many tools, each with a schema of its own. */
export function searchTools(count: number): SearchTool[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `search_${index}`,
    description: `Searches collection ${index} and answers with the matches, best first`,
    input: searchInput(),
  }))
}

/** The tool that answers with a text of so many bytes. */
export const large = { name: 'large', description: 'Answers with as many bytes as asked for' }

/** Input of the large tool. */
export const largeInput = z.object({ bytes: z.number().int() })

/** The tool that reports so many steps, leaving the thread after each fifth, and says it is done. */
export const progress = { name: 'progress', description: 'Reports progress, then says done' }

/** Input of the progress tool. */
export const progressInput = z.object({ steps: z.number().int() })

/** Calls `report` for each step. */
export async function eachStep(steps: number, report: (step: number) => unknown): Promise<'done'> {
  for (let step = 1; step <= steps; step++) {
    await report(step)
    if (step % 5 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return 'done'
}
