/**
 * The view of the history. Its content is loaded on demand.
 */
import { el } from '../dom.ts'
import { MAX_CALLS } from '../history/calls.ts'
import type { Workspace } from '../workspace.ts'
import { frame } from './frame.ts'

/** Creates the view. */
export function historyView(workspace: Workspace): HTMLElement {
  const place = el('div')
  void import('../history/view.ts').then(({ historyList }) => place.append(historyList(workspace)))
  return frame(
    {
      kind: 'Server',
      title: 'History',
      description: `The newest call is first. Up to ${MAX_CALLS} calls are kept until you close or reload the page. Durations include the work of this page, but not the time that you take to answer questions. The timeline shows the time on the wire.`,
    },
    place,
  )
}
