/**
 * Tickets in URLs that users are asked to visit. They let the page verify that the visitor is the
 * user who was asked, which prevents an attacker from obtaining another user's consent.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#phishing
 */
import { createSealer, type Secrets } from '../../patterns/sealed-state.ts'
import { isObject } from '../../protocol/validate.ts'

/** Options of {@link createTickets}. */
export interface TicketOptions {
  /**
   * Secrets that encrypt tickets: the first encrypts, all can decrypt. Every instance that issues or
   * redeems tickets needs the same secrets. By default a secret is generated.
   */
  secrets?: Secrets
  /**
   * How long a ticket is valid, in milliseconds.
   *
   * @default 900000
   */
  ttlMs?: number
}

/** Issues and redeems tickets. */
export interface Tickets {
  /**
   * Issues a ticket to put into a URL. The ticket is encrypted.
   *
   * @param principal The user who is asked: `ctx.principal`, never a value that the client
   * supplies.
   * @param data JSON that the page needs, such as the amount to pay.
   */
  issue(principal: string, data?: unknown): Promise<string>
  /**
   * Decrypts and verifies a ticket.
   *
   * @param principal The visitor, as authenticated by the page's own login.
   * @returns The data of the ticket. `undefined` if the ticket was modified, has expired, or was
   * issued for another user; in that case, respond with 403. A ticket can be redeemed repeatedly
   * while it is valid, so record which actions were completed.
   */
  redeem(ticket: string, principal: string): Promise<{ data: unknown } | undefined>
}

/** Distinguishes tickets from other values that were encrypted with the same secrets. */
const TICKET_KIND = 'ticket'

/**
 * Creates the issuer of tickets for URLs that users are asked to visit. A ticket lets the page
 * verify that its visitor is the user who was asked.
 *
 * @example
 * ```ts
 * import { createServer, createTickets } from 'edgewise/server'
 *
 * const tickets = createTickets({ secrets: ['at least 32 random characters'] })
 * const server = createServer({ name: 'payments', version: '1.0.0' })
 * server.tool('pay', {}, async (_args, ctx) => {
 *   const ticket = await tickets.issue(ctx.principal ?? '', { amount: 12 })
 *   await ctx.elicitUrl({ message: 'Pay 12 €', url: `https://pay.example/?ticket=${ticket}` })
 *   return 'Open the page to pay'
 * })
 * ```
 *
 * @throws {SdkError} `INVALID_USE` if a secret is too short.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#phishing
 */
export function createTickets({ secrets, ttlMs = 900_000 }: TicketOptions = {}): Tickets {
  const sealer = createSealer(secrets)
  return {
    issue: (principal, data = null) =>
      sealer.seal({ kind: TICKET_KIND, principal, data, expires: Date.now() + ttlMs }),
    async redeem(ticket, principal) {
      const payload = await sealer.open(ticket)
      if (!isObject(payload) || payload.kind !== TICKET_KIND || payload.principal !== principal)
        return undefined
      return Number(payload.expires) > Date.now() ? { data: payload.data } : undefined
    },
  }
}
