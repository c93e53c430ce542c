/**
 * Builds elements. Text is always text: nothing here, or in the page, parses HTML, so that what a
 * server says can never become markup.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Document_Object_Model
 */

/** What an element can contain; `undefined` and `false` are left out. */
export type Child = Node | string | undefined | false

/** Attributes, and listeners under `on` + event name. A boolean is present or absent. */
export interface Attributes {
  [name: string]: string | number | boolean | undefined | ((event: Event) => void)
}

/** Makes an HTML element. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value)
    else if (typeof value === 'boolean') element.toggleAttribute(name, value)
    else if (value !== undefined) element.setAttribute(name, String(value))
  }
  element.append(...children.filter((child) => child !== undefined && child !== false))
  return element
}

/**
 * The element of the page with an id.
 *
 * @throws {Error} when no such element exists, which is a bug in `index.html`.
 */
export function find<E extends HTMLElement>(id: string, kind: { new (): E; prototype: E }): E {
  const element = document.getElementById(id)
  if (element instanceof kind) return element
  throw new Error(`Cannot find the ${kind.name} "${id}"`)
}

let lastId = 0
/** An id that no other element of the page has. */
export function newId(prefix: string): string {
  return `${prefix}-${++lastId}`
}
