// What a server asks: the person by form and by page, and the model.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { connectOver, dialog, press, result, sees, show, visit } from './visit.ts'

const visited = visit(server)
let page: Page
beforeAll(() => void ({ page } = visited))

describe('Playground: questions of the server', () => {
  async function book(): Promise<void> {
    await show(page, 'tool/book', 'Book a trip')
    await page.getByLabel('city').selectOption('Oslo')
    await press(page, 'Run')
    await sees(dialog(page), 'When do you arrive in Oslo')
    await sees(dialog(page), 'What do these buttons do?')
  }
  async function giveWishes(): Promise<void> {
    await dialog(page).getByLabel('Arrival').fill('2030-05-17')
    await dialog(page).getByLabel('Room').selectOption('Double')
    await press(page, 'Send')
    await sees(dialog(page), '2 nights in Oslo from 2030-05-17, double room: 280 €.')
  }
  async function confirm(): Promise<void> {
    await page.getByLabel('Book it').check()
    await press(page, 'Send')
    await sees(result(page), /^Booked 2 nights in Oslo from 2030-05-17. Reference: [0-9A-F]{8}$/)
    await sees(result(page), /^Done in .*, plus .* waiting for answers$/)
  }

  it('are asked one after the other, by whom they name; both accepted, it books and links to what it booked [M-ELIC-030] [M-ELIC-032]', async () => {
    await book()
    await sees(dialog(page), new URL(visited.url).host)
    await sees(dialog(page), /From .* \(“Edgewise demo”\)/)
    // What was filled in can be changed until it is sent
    await dialog(page).getByLabel('Arrival').fill('2031-01-01')
    await dialog(page).getByLabel('Room').selectOption('Suite')
    await giveWishes()
    await confirm()
    await result(page).getByRole('link', { name: 'About Oslo' }).click()
    await sees(result(page), '"Norway"')
  })

  it('can be put aside while the request is looked at, and their call says that it waits', async () => {
    await book()
    await page.locator('.run .state', { hasText: 'Waiting for your answer' }).waitFor()
    await dialog(page).getByLabel('Room').selectOption('Double')
    await press(page, 'Answer later')
    expect(await dialog(page).isVisible()).toBe(false)
    expect(await page.locator(':focus').innerText()).toBe('Answer')
    await sees(page.locator('.aside'), `from ${new URL(visited.url).host}`)
    const question = page.locator('.entry', { hasText: 'elicitation/create' }).last()
    await question.locator('summary').first().click()
    await sees(question, '"requestedSchema"')
    await page.getByRole('button', { name: 'Answer', exact: true }).click()
    expect(await page.locator('.aside').isVisible()).toBe(false)
    expect(await dialog(page).getByLabel('Room').locator(':checked').innerText()).toBe('Double')
    await giveWishes()
    await press(page, 'Answer later')
    // Without its call, there is nothing to answer
    await result(page).getByRole('button', { name: 'Cancel' }).click()
    await page.locator('.aside').waitFor({ state: 'detached' })
    expect(await dialog(page).count()).toBe(0)
    await show(page, 'history', 'History')
    await sees(page.getByRole('main'), /but not the time that you take to answer questions/)
  })

  it('can be declined and cancelled, which the server receives [M-ELIC-031]', async () => {
    await book()
    await press(page, 'Decline')
    await sees(result(page), 'the wishes were not given')
    await press(page, 'Run')
    await giveWishes()
    await page.keyboard.press('Escape')
    await sees(result(page), 'the offer was not taken')
  })

  it('show a URL whole, and open it only when the person agrees, out of reach of this page [M-ELIC-033] [M-ELIC-034] [M-ELIC-035] [M-ELIC-036] [M-ELIC-037]', async () => {
    await show(page, 'tool/sign', 'Sign on a page')
    let visits = 0
    await page.context().route('https://sign.example/**', (route) => {
      visits++
      return route.fulfill({ body: '' })
    })
    await press(page, 'Run')
    const address = dialog(page).locator('.url')
    expect(await address.innerText()).toBe('https://sign.example/contract?id=42')
    expect(await address.locator('strong').innerText()).toBe('sign.example')
    await press(page, 'Decline')
    await sees(result(page), 'The page was not opened.')
    await press(page, 'Run')
    await address.waitFor()
    expect(visits).toBe(0)
    const [opened] = await Promise.all([page.waitForEvent('popup'), press(page, 'Open page')])
    expect(opened.url()).toBe('https://sign.example/contract?id=42')
    expect(visits).toBe(1)
    expect(await opened.evaluate(() => window.opener)).toBe(null)
    await opened.close()
    await sees(result(page), 'Thank you. The page is open.')
  })

  async function write(): Promise<void> {
    await show(page, 'tool/postcard', 'Write a postcard')
    await page.getByLabel('city').selectOption('Kyoto')
    await press(page, 'Run')
    await page.getByLabel('Name').fill('Ada')
    await press(page, 'Send')
    await sees(dialog(page), 'The server requests a model’s answer')
  }
  async function answerAndSend(): Promise<void> {
    await sees(dialog(page), 'You write postcards of one or two sentences.')
    await sees(dialog(page), 'Write a postcard from Kyoto to Ada.')
    await page.getByLabel('Answer of the model').fill('Dear Ada, moss everywhere.')
    await press(page, 'Send answer')
    await sees(dialog(page), '“Dear Ada, moss everywhere.”')
    await page.getByLabel('Send it to Ada').check()
    await press(page, 'Send')
    await sees(result(page), /^Sent to Ada with stamp [0-9A-F]{4}: Dear Ada, moss everywhere\.$/)
  }

  it('of a model are shown and answered by hand, between two of the person', async () => {
    await write()
    await answerAndSend()
  })

  it('of a model can be declined, and the request fails with that', async () => {
    await write()
    await press(page, 'Decline')
    await sees(result(page), 'You declined to let a model answer')
    await write()
    await page.keyboard.press('Escape')
    await sees(result(page), 'You declined to let a model answer')
  })

  it.each(['2025-11-25', '2025-06-18'])('are asked on a session of %s too', async (revision) => {
    await connectOver(page, revision)
    await book()
    await giveWishes()
    await confirm()
    await write()
    await answerAndSend()
    await write()
    await press(page, 'Decline')
    await sees(result(page), /^You declined to let a model answer/)
  })
})
