import { describe, expect, it } from 'vitest'
import { createServer, createTickets } from '../../src/presets/server.ts'
import { openWire } from './wire.ts'

const secrets = 'a secret of more than sixteen characters'

/** A server that has a payment agreed to on a page of its own, and that page. */
function shop() {
  const tickets = createTickets({ secrets })
  const paid: unknown[] = []
  const server = createServer({ name: 'shop', version: '1' })
  server.tool('pay', {}, async (_args, ctx) => {
    const ticket = await tickets.issue(ctx.principal ?? '', { cents: 42 })
    const url = new URL('https://shop.example/pay')
    url.searchParams.set('ticket', ticket)
    return (await ctx.elicitUrl({ message: 'Pay 42 cents', url: url.href })).action
  })
  const visit = async (url: string, loggedIn: string): Promise<number> => {
    const ticket = new URL(url).searchParams.get('ticket') ?? ''
    const held = await tickets.redeem(ticket, loggedIn)
    if (!held) return 403
    paid.push([loggedIn, held.data])
    return 200
  }
  return { server, visit, paid }
}

describe('a ticket in a URL', () => {
  it('admits only the user that was asked, and reveals nothing [L-ELIC-034] [L-ELIC-041] [L-ELIC-051] [M-ELIC-045] [M-ELIC-046]', async () => {
    const { server, visit, paid } = shop()
    const caller = { principal: 'ada' }
    const wire = await openWire(server, '2025-11-25', { elicitation: { url: {} } }, { caller })
    let url = ''
    wire.onRequest(({ params }) => {
      url = String(params?.url)
      return { action: 'accept' }
    })
    await wire.result('tools/call', { name: 'pay' })
    expect(await visit(url, 'bob')).toBe(403)
    expect(await visit(url, '')).toBe(403)
    expect(paid).toEqual([])
    expect(await visit(url, 'ada')).toBe(200)
    expect(paid).toEqual([['ada', { cents: 42 }]])
    const ticket = new URL(url).searchParams.get('ticket') ?? ''
    for (const text of [ticket, atob(ticket.replaceAll('-', '+').replaceAll('_', '/'))]) {
      expect(text).not.toMatch(/ada|cents/)
    }
    await wire.close()
  })

  it('keeps what the user enters on the page from the client [L-ELIC-036]', async () => {
    const keys = new Map<string, string>()
    const tickets = createTickets({ secrets })
    const server = createServer({ name: 'shop', version: '1' })
    server.tool('mail', {}, async (_args, ctx) => {
      const user = ctx.principal ?? ''
      const ticket = await tickets.issue(user)
      await ctx.elicitUrl({ message: 'Link your mail', url: `https://shop.example/?t=${ticket}` })
      return keys.has(user) ? 'linked' : 'not linked'
    })
    const caller = { principal: 'ada' }
    const wire = await openWire(server, '2025-11-25', { elicitation: { url: {} } }, { caller })
    wire.onRequest(() => {
      keys.set('ada', 'key of the mail service')
      return { action: 'accept' }
    })
    const { content } = await wire.result('tools/call', { name: 'mail' })
    expect(content).toMatchObject([{ text: 'linked' }])
    expect(JSON.stringify(wire.received)).not.toContain('key of the mail service')
    await wire.close()
  })

  it('is good for nothing once anything of it is changed [L-ELIC-052] [M-ELIC-047]', async () => {
    const tickets = createTickets({ secrets })
    const ticket = await tickets.issue('ada', { cents: 42 })
    for (let at = 0; at < ticket.length; at += 7) {
      const other = ticket[at] === 'A' ? 'B' : 'A'
      const changed = ticket.slice(0, at) + other + ticket.slice(at + 1)
      expect(await tickets.redeem(changed, 'ada'), `${at}`).toBeUndefined()
    }
    for (const changed of ['', 'x', ticket.slice(1), `${ticket}A`, `${ticket}&principal=bob`]) {
      expect(await tickets.redeem(changed, 'ada')).toBeUndefined()
      expect(await tickets.redeem(changed, 'bob')).toBeUndefined()
    }
    expect(await tickets.redeem(ticket, 'ada')).toEqual({ data: { cents: 42 } })
  })

  it('ends, and is known wherever the secret is', async () => {
    const ended = await createTickets({ secrets, ttlMs: 0 }).issue('ada')
    expect(await createTickets({ secrets }).redeem(ended, 'ada')).toBeUndefined()
    const ticket = await createTickets({ secrets }).issue('ada')
    expect(await createTickets({ secrets }).redeem(ticket, 'ada')).toEqual({ data: null })
    expect(await createTickets().redeem(ticket, 'ada')).toBeUndefined()
  })
})
