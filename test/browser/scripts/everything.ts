// Gives tests the whole of the package for the browser, as the global `edgewise`.
import * as browser from 'edgewise/browser'
import * as serving from 'edgewise/server'
import { server } from '../../runtimes/server.ts'

/** What the tests use inside the page. */
export type Everything = typeof browser & typeof serving & { portable: typeof server }

Object.assign(globalThis, { edgewise: { ...browser, ...serving, portable: server } })
