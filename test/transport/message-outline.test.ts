import { describe, expect, test } from 'vitest'
import { MessageOutline } from '../../src/transport/stdio/message-outline.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

/** The outline of a text, which comes in pieces of a size. */
function outline(text: string, size = text.length): MessageOutline {
  const made = new MessageOutline()
  const bytes = encode(text)
  for (let at = 0; at < bytes.length; at += size) made.scan(bytes.subarray(at, at + size))
  return made
}

describe('The outline of a message', () => {
  test.each<[string, string, unknown]>([
    ['is the message where nothing is inside', '{"id":1,"method":"x"}', { id: 1, method: 'x' }],
    ['has objects and arrays emptied', '{"a":{"b":[1,{"id":2}]},"c":[[3]]}', { a: {}, c: [] }],
    ['heeds no bracket in a string', '{"a":"}{][","id":1}', { a: '}{][', id: 1 }],
    [
      'heeds escaped quotes',
      String.raw`{"a":"\"\\","b":{"c":"\\\"}"},"id":1}`,
      { a: '"\\', b: {}, id: 1 },
    ],
    ['has names as they are written', String.raw`{"\u0069d":"é"}`, { id: 'é' }],
    ['is that of an empty object', ' {} ', {}],
    ['ignores white space', '\t{ "a" :\r{ "b" : 1 } , "id" : 7 }\r', { a: {}, id: 7 }],
    ['rejects an array', '[{"id":1}]', undefined],
    ['rejects a string', '"{"', undefined],
    ['rejects text after the object', '{"id":1}{"id":2}', undefined],
    ['rejects invalid JSON', '{"id":1,,}', undefined],
  ])('%s', (_what, text, expected) => {
    for (const size of [1, 2, 100]) expect(outline(text, size).content).toEqual(expected)
  })

  test('contains the scanned fields, and no partial value', () => {
    expect(outline('{"method":"x","id":12').content).toEqual({ method: 'x' })
    expect(outline('{"method":"x","id":12,').content).toEqual({ method: 'x', id: 12 })
    expect(outline('{"id":1,"result":{"a":"b').content).toEqual({ id: 1, result: {} })
    expect(outline('{"id":1,"result":[[').content).toEqual({ id: 1, result: [] })
    expect(outline('{"id":1,"resu').content).toEqual({ id: 1 })
  })

  test('leaves out members that are too long, and those beyond the first few', () => {
    const long = 'x'.repeat(600)
    expect(outline(`{"a":"${long}","id":1}`).content).toEqual({ id: 1 })
    expect(outline(`{"id":1,"${long}":{"b`).content).toEqual({ id: 1 })
    const many = Array.from({ length: 100_000 }, (_, index) => `"${index}":0`).join()
    expect(Object.keys(outline(`{${many},"id":1}`).content ?? {})).toHaveLength(16)
  })

  test('is complete once the id is known, or cannot exist', () => {
    expect(outline('{"id":1').isComplete).toBe(false)
    expect(outline('{"id":1,').isComplete).toBe(false)
    expect(outline('{"id":1,"params":{').isComplete).toBe(false)
    expect(outline('{"id":1,"method":"x",').isComplete).toBe(true)
    expect(outline('{"id":1,"error":{').isComplete).toBe(true)
    expect(outline('{"result":{').isComplete).toBe(false)
    expect(outline('noise').isComplete).toBe(true)
  })

  test('of any number of bytes is made in bounded memory, of brackets and escapes too', () => {
    const made = outline('{"a":')
    for (const piece of ['['.repeat(65_536), '\\'.repeat(65_536), '"\\'.repeat(65_536)])
      made.scan(encode(piece))
    expect(made.content).toEqual({ a: [] })
  })
})
