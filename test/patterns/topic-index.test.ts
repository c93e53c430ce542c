// The index of topics: who listens to what is published.
import { describe, expect, it } from 'vitest'
import { topicAndAncestors, topicIndex } from '../../src/patterns/topic-index.ts'

describe('a topic', () => {
  it('is covered by itself and by what precedes a slash, with and without it', () => {
    expect(new Set(topicAndAncestors('docs://a/b'))).toEqual(
      new Set(['docs://a/b', 'docs:', 'docs:/', 'docs://', 'docs://a', 'docs://a/']),
    )
  })

  it('without a slash is covered by itself only', () => {
    expect(topicAndAncestors('urn:isbn:1')).toEqual(['urn:isbn:1'])
  })

  it('with a million slashes is covered by few', () => {
    expect(topicAndAncestors('/'.repeat(1_000_000)).length).toBeLessThan(5_000)
  })
})

describe('an index of topics', () => {
  it('finds the listeners of any of several topics, each once', () => {
    const index = topicIndex<string>()
    index.add('both', ['a', 'b'])
    index.add('one', ['b'])
    index.add('other', ['c'])
    expect([...index.find(['a', 'b'])].toSorted()).toEqual(['both', 'one'])
    expect([...index.find(['d'])]).toEqual([])
  })

  it('finds the listeners of all topics for any of them', () => {
    const index = topicIndex<string>()
    index.add('all')
    index.add('none', [])
    expect([...index.find(['a'])]).toEqual(['all'])
    expect([...index.find([])]).toEqual(['all'])
  })

  it('does not find a listener after it was removed, but others of its topics', () => {
    const index = topicIndex<string>()
    const remove = index.add('removed', ['a', 'b', 'a'])
    index.add('other', ['a'])
    remove()
    remove()
    expect([...index.find(['a', 'b'])]).toEqual(['other'])
  })
})
