// Every id in a title is defined, once, and every definition has a test.
import { describe, expect, it } from 'vitest'
import { definedIds, definedIn, namedIds, namedIn } from './ids.ts'

const named = namedIds()
const defined = definedIds()

describe('The ids in titles of tests', () => {
  it('are all defined in the tables of test/spec', () => {
    const known = new Set(defined)
    const unknown = [...named].filter(([id]) => !known.has(id))
    expect(Object.fromEntries(unknown)).toEqual({})
  })

  it('are defined once', () => {
    expect(defined.filter((id, at) => defined.indexOf(id) !== at)).toEqual([])
  })

  it('are named by a test as long as a table defines them', () => {
    expect(defined.filter((id) => !named.has(id))).toEqual([])
  })

  it('are read from titles and from rows', () => {
    const [rule, report] = [`M-BASE-${999}`, `B${998}`]
    expect(namedIn(`it('refuses it [${rule}] [${report}]', () => list[0])`)).toEqual([rule, report])
    expect(definedIn(`| id | rule |\n| --- | --- |\n| ${rule} | of ${report} |\n`)).toEqual([rule])
    expect(defined.length).toBeGreaterThan(1000)
  })
})
