/**
 * The history of a tab: its calls, and what is to happen with the arguments of an earlier call.
 */
import type { JsonObject } from 'edgewise/browser'
import { hrefOf, type Route } from '../route.ts'
import { createCalls, type Calls } from './calls.ts'

/** Whether the form is submitted after it was filled. */
export type Fill = 'run' | 'edit'

/** The history of a tab. */
export interface History {
  readonly calls: Calls
  /** Says that the next arguments of an entry come from an earlier call, and not from a link. */
  fillNext(route: Route, fill: Fill): void
  /** What is to happen with the arguments of an entry; `undefined` if they come from a link. */
  takeFill(route: Route): Fill | undefined
}

/** Arguments for the form of a view, which the view receives as the event `arguments`. */
export type ArgumentsEvent = CustomEvent<JsonObject>

/** Creates an empty history. */
export function createHistory(): History {
  let next: { href: string; fill: Fill } | undefined
  const pathOf = ({ kind, key }: Route): string => hrefOf({ kind, key })
  return {
    calls: createCalls(),
    fillNext(route, fill) {
      next = { href: pathOf(route), fill }
    },
    takeFill(route) {
      const fill = next?.href === pathOf(route) ? next.fill : undefined
      next = undefined
      return fill
    },
  }
}
