// What becomes of results: how they are shown, compared, kept and copied.
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { events, streams } from 'edgewise/events'
import { createServer, image, resourceLink, text, ToolError } from 'edgewise/server'
import { checkEndpoint } from '../../src/check/check-server.ts'
import { connect } from '../../src/presets/client.ts'
import { dialog, press, result, sees, show, visit } from './visit.ts'

const server = createServer({ name: 'results', title: 'Results', version: '1.0.0' })
const feed = events({ streams: streams() })
server.extend(feed)
const pinged = feed.type('ping', {
  description: 'Somebody pinged',
  input: z.object({ who: z.string().optional() }),
  payload: z.object({ who: z.string() }),
  matches: ({ who }, payload) => who === undefined || who === payload.who,
})

const MARKDOWN = `# Title

Some **strong** text, [a link](https://example.com/page) and ![a picture](https://example.com/a.png).

### Skipped a level

| a | b |
|---|---|
| 1 | 2 |

<script>globalThis.hacked = 1</script><img src="x" onerror="globalThis.hacked = 2">
<a href="javascript:globalThis.hacked = 3">here</a><form action="/mcp"><input name="a"></form>
`
server.tool('markdown', {}, () => text(MARKDOWN))
const wide = 'w'.repeat(70)
server.tool('wide', {}, () => text(`| name | ${wide} |\n|---|---|\n| Oslo | ${wide} |\n`))
server.tool('table', {}, () => ({
  structuredContent: {
    total: 2,
    cities: [
      { name: 'Oslo', people: 700_000 },
      { name: 'Rome', people: 2_800_000 },
    ],
  },
}))
server.tool('deep', {}, () => ({
  structuredContent: { items: Array.from({ length: 250 }, (_, id) => ({ id, tags: { a: [1] } })) },
}))
server.tool('long', {}, () =>
  text(Array.from({ length: 5_000 }, (_, id) => `Line ${id}`).join('\n')),
)
server.tool('broken', {}, () => image(new Uint8Array([1, 2, 3]), 'image/png'))
server.tool('linked', {}, () =>
  resourceLink({ uri: 'results://one', name: 'one', title: 'The one' }),
)
server.resource('results://one', { name: 'one' }, () => 'The first resource')
server.tool('sign-up', { input: z.object({ name: z.string(), password: z.string() }) }, () =>
  text('Done'),
)
server.tool(
  'greet',
  { input: z.object({ name: z.string(), style: z.enum(['plain', 'loud']).optional() }) },
  ({ name, style }) => {
    if (name === 'nobody') throw new ToolError('Invalid arguments: name: Nobody has that name')
    return { structuredContent: { greeting: `Hello, ${name}`, style: style ?? 'plain' } }
  },
)
server.tool('ping', { input: z.object({ who: z.string() }) }, async ({ who }) => {
  await pinged.emit({ who })
  return 'Pinged'
})

const visited = visit(server)
let page: Page
beforeAll(async () => {
  ;({ page } = visited)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  // Evaluated by the debugger, as the page's own policy allows no such script
  await page.evaluate(axe.source)
})

/** Runs a tool without arguments. */
async function run(tool: string): Promise<void> {
  await show(page, `tool/${tool}`, tool)
  await press(page, 'Run')
  await sees(result(page), /^Done in/)
}
/** Expects no violations of axe, in both themes. */
async function isAccessible(): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    const violations = await page.evaluate(`axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`)
    expect([colorScheme, violations]).toEqual([colorScheme, []])
  }
}
const copied = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText())
const button = (name: string) => result(page).getByRole('button', { name, exact: true })

describe('Playground: results', () => {
  it('in Markdown are rendered, without scripts, images and forms of others', async () => {
    await run('markdown')
    await result(page).getByRole('heading', { name: 'Title', level: 2 }).waitFor()
    expect(await result(page).getByRole('heading', { level: 3 }).innerText()).toBe(
      'Skipped a level',
    )
    const links = result(page).getByRole('link')
    expect(await links.evaluateAll((all) => all.map((each) => each.getAttribute('href')))).toEqual([
      'https://example.com/page',
      'https://example.com/a.png',
    ])
    expect(await result(page).locator('img, script, form, input').count()).toBe(0)
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined()
    expect(await result(page).getByRole('cell').allInnerTexts()).toEqual(['1', '2'])
    await button('Raw').click()
    await sees(result(page), /<script>/)
    await button('Rendered').click()
  })

  it('in Markdown break no word of a column because another column is wide', async () => {
    await run('wide')
    const heights = await result(page)
      .getByText(/^(?:name|Oslo)$/)
      .evaluateAll((cells) => cells.map((cell) => cell.clientHeight))
    expect(heights).toHaveLength(2)
    expect(Math.max(...heights)).toBeLessThan(40)
  })

  it('with rows are a table, or its JSON', async () => {
    await run('table')
    expect(await result(page).getByRole('row').allInnerTexts()).toEqual([
      'name\tpeople',
      'Oslo\t700000',
      'Rome\t2800000',
    ])
    await isAccessible()
    await result(page).locator('.switchable').getByRole('button', { name: 'JSON' }).first().click()
    const json = result(page).getByRole('group', { name: 'JSON', exact: true })
    expect(JSON.parse(await json.innerText())).toMatchObject({ total: 2, cities: [{}, {}] })
    await result(page).getByRole('button', { name: 'Copy JSON' }).click()
    expect(JSON.parse(await copied())).toMatchObject({ total: 2 })
  })

  it('of many parts are folded, and unfolded by keyboard', async () => {
    await run('deep')
    await result(page).locator('.switchable').getByRole('button', { name: 'JSON' }).first().click()
    const json = result(page).getByRole('group', { name: 'JSON', exact: true })
    await sees(json, /^id: 0, …$/)
    expect(await json.locator('.line').count()).toBeLessThan(250)
    await json.focus()
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowRight']) {
      await page.keyboard.press(key)
    }
    const focused = page.locator(':focus')
    expect(await focused.getAttribute('aria-expanded')).toBe('true')
    await sees(json, '"id": 0')
    await page.keyboard.press('ArrowLeft')
    expect(await focused.getAttribute('aria-expanded')).toBe('false')
    await json.getByRole('button', { name: 'Show 100 more of 150' }).click()
    await json.getByRole('button', { name: 'Show 50 more of 50' }).waitFor()
  })

  it('that are long show their beginning first', async () => {
    await run('long')
    expect(await result(page).getByText('Line 4999').count()).toBe(0)
    await result(page)
      .getByRole('button', { name: /^Show all/ })
      .click()
    await sees(result(page), /Line 4999$/)
  })

  it('with an image that cannot be shown explain why', async () => {
    await run('broken')
    await sees(result(page), 'This image cannot be shown')
    await sees(result(page), /Its data is damaged.*3 bytes as “image\/png”/)
  })

  it('link to resources by buttons', async () => {
    await run('linked')
    await result(page).getByRole('link', { name: 'Open The one' }).click()
    await sees(result(page), 'The first resource')
  })
})

describe('Playground: arguments', () => {
  it('that the server rejects are marked at their fields', async () => {
    await show(page, 'tool/greet', 'greet')
    const name = page.getByLabel('name', { exact: true })
    await name.fill('nobody')
    await press(page, 'Run')
    await sees(page.locator('.field', { has: name }), 'Nobody has that name')
    expect(await name.getAttribute('aria-invalid')).toBe('true')
    await isAccessible()
    await name.fill('Ada')
    expect(await name.getAttribute('aria-invalid')).toBeNull()
  })

  it('that fields cannot show stay JSON until the user discards them', async () => {
    await press(page, 'Edit as JSON')
    const json = page.getByLabel('Arguments as JSON')
    await json.fill('{"name": ')
    await press(page, 'Copy as')
    await sees(page.locator('#detail'), /^This is not valid JSON/)
    await json.fill('{"name": "Ada", "style": "odd", "extra": 1}')
    await press(page, 'Edit as fields')
    await sees(page.getByRole('main'), /cannot show these values: style, extra/)
    expect(await json.inputValue()).toContain('odd')
    await press(page, 'Discard them')
    expect(await page.getByLabel('name', { exact: true }).inputValue()).toBe('Ada')
  })

  it('are kept as an example, which fills the form', async () => {
    await press(page, 'Keep as example')
    await page.getByLabel('Name of the example').press('Escape')
    expect(await page.locator(':focus').innerText()).toBe('Keep as example')
    await page.keyboard.press('Enter')
    await page.getByLabel('Name of the example').fill('The first')
    await page.getByRole('button', { name: 'Keep', exact: true }).click()
    const name = page.getByLabel('name', { exact: true })
    await name.fill('Grace')
    await page.getByRole('list', { name: 'Examples' }).getByText('The first').click()
    expect(await name.inputValue()).toBe('Ada')
  })

  it('of a link fill the form, and send nothing', async () => {
    await press(page, 'Copy as')
    await dialog(page).getByRole('button', { name: 'Link', exact: true }).click()
    await dialog(page).getByRole('button', { name: 'Copy Link' }).click()
    const link = await copied()
    await dialog(page).getByRole('button', { name: 'Close' }).click()
    const { search, hash } = new URL(link)
    const own = await visited.open(`${search}${hash}`)
    expect(await own.getByLabel('name', { exact: true }).inputValue()).toBe('Ada')
    await sees(own.getByRole('main'), 'The arguments come from a link')
    expect(await result(own).isVisible()).toBe(false)
    await press(own, 'Run')
    await sees(result(own), /^Done in/)
    await own.evaluate((text) => (location.hash = text), hash.replace('Ada', 'Grace'))
    await sees(result(own), 'with the earlier arguments')
    await own.context().close()
  })

  it('are copied as a program', async () => {
    await press(page, 'Copy as')
    await dialog(page).getByRole('button', { name: 'TypeScript' }).click()
    await dialog(page).getByRole('button', { name: 'Copy TypeScript' }).click()
    await isAccessible()
    expect(await copied()).toContain(`client.callTool('greet', { name: 'Ada' })`)
    await dialog(page).getByRole('button', { name: 'Close' }).click()
  })
})

describe('Playground: secret arguments', () => {
  it('are copied only if the user includes them', async () => {
    await show(page, 'tool/sign-up', 'sign-up')
    await page.getByLabel('name', { exact: true }).fill('Ada')
    await page.getByLabel('password', { exact: true }).fill('s3cret')
    await press(page, 'Copy as')
    const include = dialog(page).getByLabel('Include the value of password')
    for (const form of ['TypeScript', 'curl', 'CLI']) {
      await dialog(page).getByRole('button', { name: form, exact: true }).click()
      const code = dialog(page).getByRole('group', { name: form, exact: true })
      await sees(code, /PASSWORD/)
      await sees(dialog(page), 'Replace PASSWORD with the actual value.')
      expect(await dialog(page).innerText()).not.toContain('s3cret')
      await include.check()
      await sees(code, /s3cret/)
      await include.uncheck()
    }
    await isAccessible()
    await dialog(page).getByRole('button', { name: 'Cursor', exact: true }).click()
    expect(await include.isVisible()).toBe(false)
    await dialog(page).getByRole('button', { name: 'Close' }).click()
    await show(page, 'tool/greet', 'greet')
  })
})

describe('Playground: history', () => {
  it('shows how a result differs from the one before', async () => {
    await press(page, 'Run')
    await sees(result(page), /Hello, Ada/)
    await page.getByLabel('name', { exact: true }).fill('Grace')
    await press(page, 'Run')
    await sees(result(page), /Hello, Grace/)
    await button('Changes').click()
    await sees(result(page), 'structuredContent.greeting')
    await sees(result(page).locator('del').last(), /Hello, Ada/)
  })

  it('lists calls, compares two, and runs one again', async () => {
    await show(page, 'history', 'History')
    const rows = page.getByRole('list', { name: 'Calls' }).locator(':scope > li')
    expect(await rows.nth(0).innerText()).toContain('name: "Grace"')
    await rows.nth(0).getByRole('checkbox').check()
    await rows.nth(1).getByRole('checkbox').check()
    await press(page, 'Compare')
    await sees(page.getByRole('region', { name: 'Comparison' }), 'structuredContent.greeting')
    await rows.nth(1).locator('summary').click()
    await isAccessible()
    await rows.nth(1).getByRole('button', { name: 'Run again' }).click()
    await sees(result(page), /Hello, Ada/)
    expect(await page.getByLabel('name', { exact: true }).inputValue()).toBe('Ada')
  })
})

describe('Playground: check', () => {
  it('finds the same as the command, except what only a command can check', async () => {
    const url = `${visited.url}/mcp`
    const found: string[] = []
    const options = { url, headers: new Headers(), fetch, timeoutMs: 10_000 }
    const open = (revision?: '2026-07-28') => connect(url, revision ? { revision } : {})
    for await (const { rule } of checkEndpoint(options, (revision) =>
      open(revision as '2026-07-28'),
    )) {
      if (rule !== 'origin-check') found.push(rule)
    }
    await show(page, 'check', 'Check')
    await press(page, 'Check this server')
    const findings = page.getByRole('region', { name: 'Findings' })
    await sees(findings, new RegExp(`, in ${found.length} places `))
    // Its requests are folded in one row
    const group = page.locator('.entry[data-kind=check]').last()
    await sees(group.locator('.outcome'), new RegExp(`, in ${found.length} places`))
    const members = page.locator('.entry[data-member]')
    expect(await members.count()).toBe(0)
    await group.locator('summary').press('Enter')
    await members.first().waitFor()
    await group.locator('summary').press('Enter')
    await expect.poll(() => members.count()).toBe(0)
    const rules = await findings.locator('li .note code').allInnerTexts()
    expect(new Set(rules)).toEqual(new Set(found))
    await isAccessible()
    await findings.getByRole('button', { name: 'Copy JSON of the findings' }).click()
    expect(JSON.parse(await copied())).toMatchObject({ server: url })
    // The browser itself reports responses with a status of 400 and above
    const others = visited.complaints
      .splice(0)
      .filter((complaint) => !complaint.startsWith('Failed to load resource'))
    expect(others).toEqual([])
  })
})

describe('Playground: events', () => {
  it('arrive while their type is followed', async () => {
    await show(page, 'events', 'Events')
    await page.getByLabel('who').fill('Ada')
    await press(page, 'Follow')
    await sees(page.getByRole('main'), 'Following, 0 events')
    const other = await connect(`${visited.url}/mcp`)
    const received = page.getByRole('list', { name: 'Events of ping' })
    await other.callTool('ping', { who: 'Grace' })
    await other.callTool('ping', { who: 'Ada' })
    await received.getByText('"Ada"').waitFor()
    await other.close()
    expect(await received.getByText('"Grace"').count()).toBe(0)
    await isAccessible()
    await press(page, 'Stop')
    await sees(page.getByRole('main'), /^Stopped after \d+ event/)
  })
})
