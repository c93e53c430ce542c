// Gives tests the whole of the package for the browser, as the global `edgewise`.
import * as browser from 'edgewise/browser'
import { connect as connectTiny } from 'edgewise/browser/tiny'
import * as schemas from 'edgewise/json-schema'
import * as serving from 'edgewise/server'
import * as testing from 'edgewise/testing'
import { server } from '../../server.ts'

/** What the tests use inside the page. */
export type Everything = typeof browser &
  typeof schemas &
  typeof serving &
  typeof testing & { connectTiny: typeof connectTiny; portable: typeof server }

Object.assign(globalThis, {
  edgewise: { ...browser, ...schemas, ...serving, ...testing, connectTiny, portable: server },
})
