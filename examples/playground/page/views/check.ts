/**
 * The view that checks the server against the specification. The checks are loaded on demand.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */
import { el } from '../dom.ts'
import { explainError, failureCard } from '../explanation.ts'
import { hrefOf } from '../route.ts'
import type { Workspace } from '../workspace.ts'
import { actionForm, frame } from './frame.ts'

/** What the check does, to be read before it begins. */
export const CHECK_SENDS =
  'The check sends valid and invalid requests: a faulty server can fail. It calls none of the tools.'

const route = { kind: 'check', key: '' } as const

/** Shows the view, and begins the check. */
export function beginCheck(workspace: Workspace): void {
  workspace.views.delete(hrefOf(route))
  workspace.history.fillNext(route, 'run')
  workspace.show(route)
}

/** Checks the server, and shows the findings in an element. The button can then repeat that. Never rejects. */
export async function check(
  workspace: Workspace,
  place: HTMLElement,
  button: HTMLElement | null,
): Promise<void> {
  try {
    const { runCheck } = await import('../check/check.ts')
    await runCheck(workspace, place)
  } catch (error) {
    place.append(failureCard(await explainError(error)))
  }
  if (button) button.textContent = 'Check again'
}

/** Creates the view. */
export function checkView(workspace: Workspace): HTMLElement {
  const place = el('div')
  const form = actionForm('Check this server', [], () =>
    check(workspace, place, form.querySelector('button')),
  )
  // A form that is not shown yet cannot be submitted
  if (workspace.history.takeFill(route) === 'run') {
    form.dispatchEvent(new Event('submit', { cancelable: true }))
  }
  return frame(
    {
      kind: 'Server',
      title: 'Check',
      description: `${CHECK_SENDS} It compares the responses with the specification, and looks for what hosts and model APIs refuse. The timeline shows the requests.`,
    },
    form,
    place,
  )
}
