/**
 * Texts with revisions of the protocol.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */
import { el } from './dom.ts'

/** Creates the nodes of a text in which no revision is wrapped. */
export function withRevisions(text: string): (string | HTMLElement)[] {
  return text
    .split(/(\d{4}-\d\d-\d\d)/)
    .map((part, index) => (index % 2 === 1 ? el('span', { class: 'revision' }, part) : part))
}
