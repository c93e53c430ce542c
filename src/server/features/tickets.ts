/**
 * Tickets in the URLs that users are asked to visit, so that the page can tell whether the visitor
 * is the user who was asked, and nobody can bring about another's consent.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#phishing
 */
import { createSealer, type Secrets } from '../../patterns/sealed-state.ts'
import { isObject } from '../../protocol/validate.ts'

/** How tickets are made. */
export interface TicketOptions {
  /** As in `InputOptions`; every instance that makes or takes tickets needs the same. */
  secrets?: Secrets
  /** Milliseconds for which a ticket is good; 900,000 by default. */
  ttlMs?: number
}

/** Makes and takes tickets. */
export interface Tickets {
  /**
   * Makes a ticket, to be put into a URL. It can be read by nobody else.
   *
   * @param principal The user who is asked, `ctx.principal`: never what a client says of itself.
   * @param data JSON that the page needs, such as what is to be paid.
   */
  issue(principal: string, data?: unknown): Promise<string>
  /**
   * The data of a ticket.
   *
   * @param principal Who visits, by a login of the page's own.
   * @returns nothing when the ticket was changed, is too old, or was made for somebody else; answer
   *   with 403 then. A ticket can be taken again while it is good: note what is done.
   */
  redeem(ticket: string, principal: string): Promise<{ data: unknown } | undefined>
}

const KIND = 'ticket'

/** Makes the means to make and take tickets. */
export function createTickets({ secrets, ttlMs = 900_000 }: TicketOptions = {}): Tickets {
  const sealer = createSealer(secrets)
  return {
    issue: (principal, data = null) =>
      sealer.seal({ kind: KIND, principal, data, expires: Date.now() + ttlMs }),
    async redeem(ticket, principal) {
      const held = await sealer.open(ticket)
      if (!isObject(held) || held.kind !== KIND || held.principal !== principal) return undefined
      return Number(held.expires) > Date.now() ? { data: held.data } : undefined
    },
  }
}
