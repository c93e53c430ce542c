/**
 * The view that checks the server against the specification. The checks are loaded on demand.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */
import { el } from '../dom.ts'
import { explain, failureCard } from '../errors.ts'
import type { Workspace } from '../workspace.ts'
import { actionForm, frame } from './frame.ts'

/** Creates the view. */
export function checkView(workspace: Workspace): HTMLElement {
  const place = el('div')
  const form = actionForm('Check this server', [], async () => {
    try {
      const { runCheck } = await import('../check/check.ts')
      await runCheck(workspace, place)
    } catch (error) {
      place.append(failureCard(explain(error)))
    }
  })
  return frame(
    {
      kind: 'Server',
      title: 'Check',
      description:
        'Sends valid and invalid requests, and compares the responses with the specification. Also checks what hosts and model APIs refuse. Calls no tool. The timeline shows the requests.',
    },
    form,
    place,
  )
}
