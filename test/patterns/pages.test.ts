import { describe, expect, test } from 'vitest'
import type { PaginatedResult } from '../../src/protocol/types.ts'
import { walkPages, type PageLimits } from '../../src/patterns/pages.ts'

type Page = { readonly names: readonly string[]; readonly nextCursor?: string }

/** Walks a list whose pages are found by their cursor; the first one is that of no cursor. */
async function walk(pages: Readonly<Record<string, Page>>, limits: PageLimits = {}) {
  const asked: (string | undefined)[] = []
  const repeats: string[] = []
  const fetchPage = async (cursor: string | undefined): Promise<PaginatedResult> => {
    asked.push(cursor)
    const { names, ...rest } = pages[cursor ?? 'first'] ?? { names: [] }
    return { ...rest, tools: names.map((name) => ({ name })) }
  }
  const found: string[] = []
  const items = walkPages<{ name: string }>('tools/list', fetchPage, 'tools', limits, (error) =>
    repeats.push(error.message),
  )
  for await (const { name } of items) found.push(name)
  return { found, asked, repeats }
}

describe('A list in pages', () => {
  test('is walked to the page without a cursor', async () => {
    const pages = {
      first: { names: ['a'], nextCursor: '1' },
      1: { names: [], nextCursor: '2' },
      2: { names: ['b'] },
    }
    expect(await walk(pages)).toEqual({
      found: ['a', 'b'],
      asked: [undefined, '1', '2'],
      repeats: [],
    })
  })

  test('gives the first of entries with the same name only', async () => {
    const pages = { first: { names: ['a', 'b'], nextCursor: '1' }, 1: { names: ['b', 'c'] } }
    expect((await walk(pages)).found).toEqual(['a', 'b', 'c'])
  })

  test('ends where a page or a cursor comes again, which is reported', async () => {
    const page = { first: { names: ['a'], nextCursor: '1' }, 1: { names: ['a'], nextCursor: '2' } }
    expect((await walk(page)).repeats).toEqual(['"tools/list" returned the cursor "1" again'])
    const cursor = {
      first: { names: ['a'], nextCursor: '1' },
      1: { names: ['b'], nextCursor: '1' },
    }
    expect(await walk(cursor)).toMatchObject({ found: ['a', 'b'], asked: [undefined, '1'] })
  })

  test('that is larger than allowed is an error that names the limit', async () => {
    const pages = { first: { names: ['a'], nextCursor: '1' }, 1: { names: ['b'], nextCursor: '2' } }
    await expect(walk(pages, { maxPages: 2 })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining('maxPages'),
    })
    await expect(walk(pages, { maxListLength: 50 })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining('maxListLength'),
    })
  })
})
