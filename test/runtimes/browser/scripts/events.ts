// Gives tests what a page needs to follow events, as the global `following`.
import { connect } from 'edgewise/browser'
import { eventSubscriptions } from 'edgewise/events/client'

const following = { connect, eventSubscriptions }

/** What the tests use inside the page. */
export type Following = typeof following

Object.assign(globalThis, { following })
