// The portable suite across an iframe: the client in a page, the server in a frame of it.
import { revisions } from 'edgewise'
import { connect, openPort } from 'edgewise/browser'
import type { Suite } from './harness.ts'
import { revisionSuite, type Open } from './revision-suite.ts'

const acrossFrame: Open = (options) => {
  const frame = document.querySelector('iframe')?.contentWindow
  if (!frame) throw new Error('There is no frame')
  return connect(openPort(frame, { origin: location.origin }), options)
}

export const frameSuite: Suite = Object.assign(
  {},
  ...revisions.map(({ version }) => revisionSuite('across an iframe', version, acrossFrame)),
)
