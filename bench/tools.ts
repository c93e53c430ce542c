/** The tools that every SDK serves in the benches, with their zod schemas. */
import * as z from 'zod'

/** Input of the echo tool. */
export const echoInput = z.object({ text: z.string() })

/** Name and description of the echo tool. */
export const echo = { name: 'echo', description: 'Answers with the text it was given' }

/** Input of each of the hundred tools, about as large as those of real servers. */
export const searchInput = z.object({
  query: z.string().min(1).describe('Words to look for'),
  limit: z.number().int().min(1).max(100).describe('Most matches to return').optional(),
  kind: z.enum(['file', 'folder', 'link']).describe('Kind of entry').optional(),
  tags: z.array(z.string()).describe('Labels that a match must carry').optional(),
  range: z.object({ from: z.string(), to: z.string() }).describe('Dates between').optional(),
})

/** A hundred names and descriptions. */
export const hundred = Array.from({ length: 100 }, (_, index) => ({
  name: `search_${index}`,
  description: `Searches collection ${index} and answers with the matches, best first`,
}))
