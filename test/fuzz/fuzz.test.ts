import assert from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import { digest } from '../../src/patterns/digest.ts'
import { createSealer } from '../../src/patterns/sealed-state.ts'
import { SdkError, ProtocolError } from '../../src/protocol/errors.ts'
import { decodeHeaderValue, encodeHeaderValue } from '../../src/protocol/headers.ts'
import { isObject, parseJson, readableId, validateMessage } from '../../src/protocol/validate.ts'
import { pagesOf } from '../../src/server/features/pagination.ts'
import { expandUriTemplate } from '../../src/server/features/uri-expand.ts'
import { uriTemplate } from '../../src/server/features/uri-template.ts'
import { repeat, type Random } from './random.ts'

/** What a function throws, or undefined. */
const thrown = (run: () => unknown) => {
  try {
    run()
    return undefined
  } catch (error) {
    return error
  }
}
const codeOf = (error: unknown) =>
  error instanceof ProtocolError || error instanceof SdkError ? error.code : error

describe('validateMessage, fuzzed', () => {
  const isId = (value: unknown) => typeof value === 'string' || Number.isSafeInteger(value)
  const isError = (value: unknown) =>
    isObject(value) && Number.isInteger(value.code) && typeof value.message === 'string'

  /** The rules again, written as the specification lists them. */
  const isMessage = (value: unknown): boolean => {
    if (!isObject(value) || value.jsonrpc !== '2.0') return false
    const has = (name: string) => Object.hasOwn(value, name)
    const params = value.params === undefined || isObject(value.params)
    if (has('method')) {
      if (typeof value.method !== 'string' || has('result') || has('error')) return false
      return params && (!has('id') || isId(value.id))
    }
    if (has('result')) return !has('error') && isId(value.id) && isObject(value.result)
    return (
      has('error') &&
      isError(value.error) &&
      (isId(value.id) || [null, undefined].includes(value.id as null))
    )
  }

  const randomMessage = (random: Random) => {
    const members: [string, () => unknown][] = [
      ['jsonrpc', () => random.pick(['2.0', '2.0', '2.0', '2.0', 2, '1.0'])],
      ['id', () => random.pick([1, 'a', 0, null, 1.5, 2 ** 60, {}, true, '__proto__'])],
      ['method', () => random.pick(['ping', '__proto__', '', 1, null])],
      ['params', () => random.pick([{}, { a: 1 }, [], null, 'x', undefined])],
      ['result', () => random.pick([{}, { a: 1 }, [], null, 'x'])],
      ['error', () => random.pick([{ code: 1, message: 'x' }, { code: 1.5, message: '' }, {}, 1])],
    ]
    const chosen = members.filter(([name]) => random.chance(name === 'jsonrpc' ? 0.95 : 0.55))
    return Object.fromEntries(chosen.map(([name, make]) => [name, make()]))
  }

  it('accepts exactly the valid messages, and throws INVALID_REQUEST otherwise [L-RPC-001]', async () => {
    let accepted = 0
    await repeat(4000, (random) => {
      const value = random.chance(0.9) ? randomMessage(random) : random.json()
      const error = thrown(() => validateMessage(value))
      assert.equal(error === undefined, isMessage(value), JSON.stringify(value))
      if (error === undefined) accepted++
      else assert.equal(codeOf(error), -32600)
    })
    expect(accepted).toBeGreaterThan(100)
  })

  it('reads an id only where there is one that can be answered', async () => {
    await repeat(2000, (random) => {
      const value = random.chance(0.8) ? randomMessage(random) : random.json()
      const id = readableId(value)
      assert.ok(id === undefined || (isId(id) && isObject(value) && id === value.id))
    })
  })

  it('throws PARSE_ERROR on text that is not JSON, and nothing else', async () => {
    await repeat(2000, (random) => {
      const text = random.mutate(JSON.stringify(random.json()))
      const error = thrown(() => parseJson(text))
      if (error !== undefined) assert.equal(codeOf(error), -32700)
    })
  })
})

describe('URI templates, fuzzed', () => {
  const randomTemplate = (random: Random) => {
    let count = 0
    const name = () => `v${count++}`
    const parts = random.list(4, () =>
      random.chance(0.5)
        ? random.text(3, 'ab/.-:,')
        : `{${random.pick(['', '+', '.', '/', '#'])}${name()}${random.chance(0.2) ? '*' : ''}${
            random.chance(0.2) ? `,${name()}` : ''
          }}`,
    )
    const query = random.chance(0.4) ? `{?${name()},${name()}${random.pick(['', '*'])}}` : ''
    return parts.join('') + query
  }

  it('expands the parsed variables to the same URI [M-RES-006]', async () => {
    let matched = 0
    await repeat(3000, (random) => {
      const source = randomTemplate(random)
      const template = uriTemplate(source)
      const text = () => random.text(4, 'ab/.-,é世&=? ') || 'x'
      const values = Object.fromEntries(
        template.variables.map((name) => [name, random.chance(0.9) ? text() : undefined]),
      )
      const uri = expandUriTemplate(source, values)
      const read = template.match(uri)
      // A required variable without a value leaves nothing to read.
      if (!read) return
      matched++
      // An escape need not be the same again: reserved values keep what others escape.
      const again = expandUriTemplate(source, read)
      assert.equal(decodeURIComponent(again), decodeURIComponent(uri), JSON.stringify(read))
    })
    expect(matched).toBeGreaterThan(1500)
  })

  it('matches the same strings as a backtracking matcher [M-RES-006]', async () => {
    const source = (template: string) =>
      template
        .split(/(\{[^}]*\})/)
        .map((part) => {
          const expression = /^\{([+./#]?)(\w+)(\*?)(?:,\w+)?\}$/.exec(part)
          if (!expression) return part.replaceAll(/[.\-/]/g, '\\$&')
          const [, operator = '', , explode] = expression
          const stops = operator === '+' || operator === '#' ? '' : '/?#'
          const open = explode ? stops.replace(operator || ',', '') : stops
          const value = open === '' ? '.' : `[^${open}]`
          if (operator === '' || operator === '+') return `${value}+`
          return `(?:\\${operator}${value}*)?`
        })
        .join('')
    let matched = 0
    await repeat(4000, (random) => {
      let count = 0
      const template = random
        .list(4, () =>
          random.chance(0.4)
            ? random.pick(['a', 'b', '/', '.', 'ab', '/a'])
            : `{${random.pick(['', '+', '.', '/', '#'])}v${count++}${random.pick(['', '', '*'])}}`,
        )
        .join('')
      const uri = random.text(8, 'aab/.#,')
      const expected = new RegExp(`^${source(template)}$`).test(uri)
      const actual = uriTemplate(template).match(uri) !== undefined
      assert.equal(actual, expected, `${template} on ${uri}`)
      if (actual) matched++
    })
    expect(matched).toBeGreaterThan(400)
  })

  it('throws INVALID_USE on a bad template, and nothing on a bad URI [M-RES-006]', async () => {
    await repeat(4000, (random) => {
      const source = random.chance(0.5) ? random.mutate(randomTemplate(random)) : random.text(20)
      const error = thrown(() => {
        const template = uriTemplate(source)
        for (let i = 0; i < 3; i++) {
          const values = template.match(random.chance(0.2) ? '\ud800' : random.text(20))
          if (values) assert.equal(Object.getPrototypeOf(values), null)
        }
      })
      if (error !== undefined) assert.equal(codeOf(error), 'INVALID_USE', source)
    })
  })
})

describe('Pages of lists, fuzzed', () => {
  it('returns every item once, in order, for any page size [M-PAGE-001]', async () => {
    await repeat(500, (random) => {
      const items = Array.from({ length: random.below(60) }, (_, i) => i)
      const list = random.text()
      const seen: number[] = []
      let cursor: string | undefined
      do {
        const size = 1 + random.below(20)
        const { page, nextCursor }: { page: readonly number[]; nextCursor?: string } = pagesOf(
          size,
        )(items, cursor, list)
        assert.ok(page.length <= size)
        seen.push(...page)
        cursor = nextCursor
      } while (cursor !== undefined)
      assert.deepEqual(seen, items)
    })
  })

  it('throws INVALID_PARAMS on every cursor that it did not make [M-PAGE-009]', async () => {
    const items = Array.from({ length: 100 }, (_, i) => i)
    await repeat(4000, (random) => {
      const { nextCursor = '' } = pagesOf(1 + random.below(99))(items, undefined, 'tools')
      const cursor = random.pick([random.mutate(nextCursor), random.text(20), random.json(1)])
      if (cursor === nextCursor || cursor === undefined) return
      const error = thrown(() => pagesOf(10)(items, cursor, 'tools'))
      assert.equal(codeOf(error), -32602, JSON.stringify(cursor))
    })
  })
})

describe('sealed state, fuzzed', () => {
  const sealer = createSealer('a secret of more than sixteen characters')

  it('unseals its own values, and nothing modified [M-MRTR-019]', async () => {
    await repeat(500, async (random) => {
      const value = random.json()
      const text = await sealer.seal(value)
      assert.equal(JSON.stringify(await sealer.open(text)), JSON.stringify(value))
      const changed = random.mutate(text)
      if (changed !== text) assert.equal(await sealer.open(changed), undefined)
    })
  })

  it('refuses any text that it did not make, without throwing [M-MRTR-018]', async () => {
    await repeat(1000, async (random) => {
      assert.equal(await sealer.open(random.text(60)), undefined)
    })
  })

  it('digests values that are equal as JSON to the same text, and others to others', async () => {
    const shuffled = (value: unknown, random: Random): unknown => {
      if (Array.isArray(value)) return value.map((item) => shuffled(item, random))
      if (!isObject(value)) return value
      const entries = Object.entries(value).map(([k, v]) => [k, shuffled(v, random)] as const)
      return Object.fromEntries(random.chance(0.5) ? entries.toReversed() : entries)
    }
    const known = new Map<string, string>()
    await repeat(500, async (random) => {
      const value = random.json()
      const text = await digest(value)
      assert.equal(await digest(shuffled(value, random)), text)
      const sorted = JSON.stringify(value, (_, v: unknown) =>
        isObject(v)
          ? Object.fromEntries(Object.entries(v).toSorted(([a], [b]) => (a < b ? -1 : 1)))
          : v,
      )
      assert.equal(known.get(text) ?? sorted, sorted)
      known.set(text, sorted)
    })
    expect(known.size).toBeGreaterThan(100)
  })
})

describe('header values, fuzzed', () => {
  it('come back as they were, and travel as printable ASCII', async () => {
    await repeat(4000, (random) => {
      const text = random.text(20)
      const value = encodeHeaderValue(text)
      assert.match(value, /^[ -~]*$/)
      assert.equal(decodeHeaderValue(value), text)
      assert.equal(new Headers({ 'mcp-name': value }).get('mcp-name'), value)
    })
  })

  it('are read without throwing, for any value', async () => {
    await repeat(4000, (random) => {
      const wrapped = `=?base64?${random.text(12)}?=`
      const value = random.pick([
        wrapped,
        random.mutate(encodeHeaderValue(random.text())),
        random.text(30),
      ])
      const text = decodeHeaderValue(value)
      if (text !== undefined) assert.equal(decodeHeaderValue(encodeHeaderValue(text)), text)
    })
  })
})
