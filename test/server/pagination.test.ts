import { describe, expect, it } from 'vitest'
import { onePage, pagesOf, type Page } from '../../src/server/features/pagination.ts'

const items = Array.from({ length: 25 }, (_, i) => `item ${i}`)

const paginate = <T>(items: readonly T[], cursor: unknown, size: number, list = ''): Page<T> =>
  pagesOf(size)(items, cursor, list)

const allPages = (pageSize: number) => {
  const pages: (readonly string[])[] = []
  let cursor: string | undefined
  do {
    const { page, nextCursor }: Page<string> = paginate(items, cursor, pageSize)
    pages.push(page)
    cursor = nextCursor
  } while (cursor !== undefined)
  return pages
}

const refused = expect.objectContaining({ code: -32602 })

describe('A list', () => {
  it('is one page when there are no pages, or when it fits', () => {
    expect(onePage(items, undefined, '').page).toBe(items)
    expect(paginate(items, undefined, 25).page).toBe(items)
    expect(paginate(items, undefined, 100).page).toBe(items)
  })

  it('leaves nextCursor out at the end of the list [L-PAGE-004]', () => {
    expect(paginate(items, undefined, 25)).not.toHaveProperty('nextCursor')
    expect(paginate([], undefined, 10)).toEqual({ page: [] })
  })

  it.each([1, 2, 7, 10, 24, 25, 26])(
    'returns every item once, in order, in pages of %i',
    (size) => {
      const pages = allPages(size)

      expect(pages.flat()).toEqual(items)
      expect(pages).toHaveLength(Math.ceil(items.length / size))
      expect(pages.slice(0, -1).every((page) => page.length === size)).toBe(true)
    },
  )

  it('makes cursors that another instance reads, at another page size [M-PAGE-012]', () => {
    const { nextCursor } = paginate(items, undefined, 10)

    expect(paginate([...items], nextCursor, 3).page).toEqual(items.slice(10, 13))
    expect(paginate(items, nextCursor, 100)).toEqual({ page: items.slice(10) })
  })

  it('makes the same cursor each time [M-PAGE-008]', () => {
    expect(paginate(items, undefined, 10)).toEqual(paginate(items, undefined, 10))
  })

  it('continues when the list changed between pages [L-PAGE-005]', () => {
    const { nextCursor } = paginate(items, undefined, 10)

    expect(paginate(['new', ...items], nextCursor, 10).page).toEqual(items.slice(9, 19))
    expect(paginate(items.slice(0, 3), nextCursor, 10)).toEqual({ page: [] })
    expect(paginate([], nextCursor, 10)).toEqual({ page: [] })
  })

  it.each([
    ['an empty string', ''],
    ['text', 'garbage'],
    ['a bare position', 'a'],
    ['a position with a wrong check sum', 'a-1'],
    ['a negative position', '-a'],
    ['not a number', 'NaN-1'],
    ['a number', 10],
    ['null', null],
    ['a list', ['a']],
    ['an object', {}],
    ['emoji', '🙂'],
    ['a long text', 'z'.repeat(100_000)],
  ])('rejects %s as a cursor [L-PAGE-006] [M-PAGE-009]', (_, cursor) => {
    expect(() => paginate(items, cursor, 10)).toThrow(refused)
    expect(() => onePage(items, cursor, '')).toThrow(refused)
  })

  it('rejects a cursor of which any character was changed [M-PAGE-012]', () => {
    const cursor = paginate(items, undefined, 10).nextCursor!
    for (let i = 0; i < cursor.length; i++) {
      for (const character of 'a0z-A ') {
        const changed = cursor.slice(0, i) + character + cursor.slice(i + 1)
        if (changed === cursor) continue
        expect(() => paginate(items, changed, 10), changed).toThrow(refused)
      }
      expect(() => paginate(items, cursor.slice(0, i), 10)).toThrow(refused)
    }
    expect(() => paginate(items, `${cursor} `, 10)).toThrow(refused)
  })

  it('rejects a cursor of another list [M-PAGE-009]', () => {
    const { nextCursor } = paginate(items, undefined, 10, 'tools/list')

    expect(paginate(items, nextCursor, 10, 'tools/list').page).toEqual(items.slice(10, 20))
    expect(() => paginate(items, nextCursor, 10, 'prompts/list')).toThrow(refused)
  })
})
