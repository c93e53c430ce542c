/**
 * Creates elements. No code of the page parses HTML, so that text from a server can never become markup.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Document_Object_Model
 */

/** The content of an element. `undefined` and `false` are omitted. */
export type Child = Node | string | undefined | false

/** Attributes, and event listeners with the prefix `on`. A boolean value adds or omits the attribute. */
export interface Attributes {
  [name: string]: string | number | boolean | undefined | ((event: Event) => void)
}

/** Creates an HTML element. */
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

/** Text that may be wrapped after each separator of a path, but not in the `https://` of a URL. */
export function breakable(text: string): (Node | string)[] {
  return text
    .split(/(?<=[^:/][/\\])/)
    .flatMap((part, index) => (index === 0 ? [part] : [el('wbr'), part]))
}

/**
 * Finds the element with an id.
 *
 * @throws {Error} If there is no such element, which is a bug in `index.html`.
 */
export function find<E extends HTMLElement>(id: string, kind: { new (): E; prototype: E }): E {
  const element = document.getElementById(id)
  if (element instanceof kind) return element
  throw new Error(`Cannot find the ${kind.name} "${id}"`)
}

let lastId = 0
/** Creates an id that no other element of the page has. */
export function newId(prefix: string): string {
  return `${prefix}-${++lastId}`
}
