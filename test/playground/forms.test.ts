// Forms in a real Chromium: unions, objects inside of lists, and their value as JSON and back.
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { jsonSchema } from 'edgewise/json-schema'
import { server } from './crowd.ts'
import { press, result, sees, show, visit } from './visit.ts'

/** Contains itself eight times. */
const node: z.ZodType = z.lazy(() =>
  z.object(Object.fromEntries([...'abcdefgh'].map((name) => [name, node.optional()]))),
)
server.tool('grow', { input: z.object({ node: node.optional() }) }, () => 'grown')

/** Patterns by the name of a field, and whether the page can hold them against each key. */
const patterns = {
  year: ['^\\d{4}-\\d\\d$', true],
  name: ['^[A-Za-z_]\\w*$', true],
  anywhere: ['b\\.c', true],
  letter: ['^\\p{Lu}', true],
  nested: ['^(a+)+$', false],
  branches: ['^(a|a)*$', false],
  several: ['^a*a*a*a*a*a*a*b$', false],
  bounded: ['^a{0,99}a{0,99}a{0,99}a{0,99}b$', false],
  again: ['^(a+)\\1$', false],
  unanchored: ['a*b', false],
  broken: ['^[(]$', false],
} as const
server.tool(
  'spell',
  {
    input: jsonSchema({
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(patterns).map(([name, [pattern]]) => [name, { type: 'string', pattern }]),
      ),
    }),
  },
  () => 'spelt',
)

const visited = visit(server, '#/tool/arrange')
let page: Page
beforeAll(() => void ({ page } = visited))

const field = (name: string): Locator => page.getByLabel(name, { exact: true })
const given = {
  shape: { kind: 'box', width: 2, height: 3 },
  code: 7,
  guests: [{ name: 'Ada', seat: { row: 4 } }, { name: 'Grace' }],
  size: 'M',
  label: { text: 'Party' },
}

describe('Playground: forms', () => {
  it('let one choose of a union, and ask for what the choice needs', async () => {
    expect(await field('shape').locator('option').allInnerTexts()).toEqual(['circle', 'box'])
    await field('radius').waitFor()
    await field('shape').selectOption('box')
    await field('radius').waitFor({ state: 'detached' })
    await field('width').fill('2')
    await field('height').fill('3')
    await field('code').selectOption('number')
    await page.getByLabel('number', { exact: true }).fill('7')
  })

  it('begin a list with as many items as it needs, and add to it', async () => {
    const guests = page.getByRole('group', { name: 'guests', exact: true })
    expect(await guests.getByRole('listitem').count()).toBe(1)
    await guests.getByLabel('name').fill('Ada')
    await guests.getByLabel('row').fill('4')
    await press(page, 'Add to guests')
    await page.keyboard.type('Grace')
    await field('size').selectOption('M')
  })

  it('leave out an optional union until it is chosen', async () => {
    const label = page.getByLabel('label optional', { exact: true })
    expect(await label.locator('option').allInnerTexts()).toEqual(['None', 'text', 'array'])
    await label.selectOption('text')
    await page.getByLabel('text', { exact: true }).fill('Party')
  })

  it('show the whole as JSON, take changes there, and fill the fields from it', async () => {
    await press(page, 'Edit as JSON')
    const json = page.getByLabel('Arguments as JSON')
    expect(JSON.parse(await json.inputValue())).toEqual(given)
    const other = { ...given, shape: { kind: 'circle', radius: 1 }, code: 'x7', label: ['a', 'b'] }
    await json.fill(JSON.stringify(other))
    await press(page, 'Edit as fields')
    expect(await field('radius').inputValue()).toBe('1')
    await press(page, 'Run')
    const shown = result(page).getByRole('group', { name: 'JSON' })
    expect(JSON.parse(await shown.innerText())).toEqual({ given: other })
  })

  it('keep an empty item of a list over JSON and back', async () => {
    await press(page, 'Add to array')
    await press(page, 'Edit as JSON')
    const json = page.getByLabel('Arguments as JSON')
    expect(JSON.parse(await json.inputValue())).toMatchObject({ label: ['a', 'b', ''] })
    await press(page, 'Edit as fields')
    await json.waitFor({ state: 'detached' })
    expect(await page.getByLabel('array 3', { exact: true }).inputValue()).toBe('')
  })

  it('mark an earlier result when they reject other arguments', async () => {
    await press(page, 'Run')
    await sees(result(page), 'with the earlier arguments')
  })

  it('report the error in invalid JSON, and keep the text', async () => {
    await press(page, 'Edit as JSON')
    const json = page.getByLabel('Arguments as JSON')
    await json.fill('{"shape":')
    await press(page, 'Edit as fields')
    expect(await json.evaluate((area: HTMLTextAreaElement) => area.validationMessage)).toMatch(
      /JSON/,
    )
    expect(await json.inputValue()).toBe('{"shape":')
  })

  it('show the whole result, as it came, when asked', async () => {
    await press(page, 'Whole result')
    const whole = result(page).getByRole('group', { name: 'Whole result' })
    expect(JSON.parse(await whole.innerText())).toMatchObject({ structuredContent: { given: {} } })
  })

  it('hold a text against its pattern while it is typed only if that takes no time [P020]', async () => {
    await show(page, 'tool/spell', 'spell')
    const held = Object.keys(patterns).map(async (name) => {
      const box = page.getByRole('main').getByLabel(name)
      return [name, (await box.getAttribute('pattern')) !== null]
    })
    const expected = Object.entries(patterns).map(([name, [, isHeld]]) => [name, isHeld])
    expect(await Promise.all(held)).toEqual(expected)
    const isValid = async (name: string, text: string): Promise<boolean> => {
      const box = page.getByRole('main').getByLabel(name)
      await box.fill(text)
      return box.evaluate((input: HTMLInputElement) => input.validity.valid)
    }
    expect(await isValid('year', '2030-05')).toBe(true)
    expect(await isValid('year', '2030-05-01')).toBe(false)
    expect(await isValid('anywhere', 'ab.cd')).toBe(true)
    expect(await isValid('anywhere', 'abxcd')).toBe(false)
    expect(await isValid('nested', 'a'.repeat(60) + 'b')).toBe(true)
  })

  it('are not more fields than a page can show, however often an object contains itself', async () => {
    await show(page, 'tool/grow', 'grow')
    const fields = page.getByRole('main').locator('.field')
    const count = await fields.count()
    expect(count).toBeGreaterThan(8)
    expect(count).toBeLessThan(6_000)
    // A field that is no longer a group takes any JSON
    expect(await page.getByRole('main').locator('textarea').count()).toBeGreaterThan(8)
  })
})
