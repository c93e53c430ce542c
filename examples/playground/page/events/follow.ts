/**
 * One event type: the arguments of a subscription, and the events that arrive.
 */
import { isObject } from 'edgewise/browser'
import type { eventSubscriptions } from 'edgewise/events/client'
import { el } from '../dom.ts'
import { explainError, explanationBlock } from '../explanation.ts'
import { issuesOf } from '../form/issues.ts'
import { schemaForm } from '../form/form.ts'
import { jsonBlock } from '../json.ts'
import { timeOf } from '../time.ts'

type Subscriptions = ReturnType<typeof eventSubscriptions>
type EventType = Awaited<ReturnType<Subscriptions['types']>>[number]
type ReceivedEvent = Subscriptions extends {
  follow(...args: never[]): AsyncGenerator<infer Event>
}
  ? Event
  : never

/** The maximum number of events that are shown. Beyond it, the oldest ones are removed. */
const MAX_EVENTS = 200

/** Creates the card of an event type. */
export function followCard(subscriptions: Subscriptions, type: EventType): HTMLElement {
  const { name, description, delivery, inputSchema } = type
  const form = schemaForm(isObject(inputSchema) ? inputSchema : { type: 'object' })
  const status = el('p', { class: 'state', role: 'status' })
  const problem = el('div')
  const list = el('ol', { class: 'received', 'aria-label': `Events of ${name}` })
  const submit = el('button', { type: 'submit', class: 'primary' }, 'Follow')
  let following: AbortController | undefined
  let isActive = false
  let count = 0

  function show(): void {
    submit.textContent = following ? 'Stop' : 'Follow'
    submit.classList.toggle('primary', !following)
    const received = `${count} event${count === 1 ? '' : 's'}`
    if (!following) status.textContent = count > 0 ? `Stopped after ${received}` : ''
    else status.textContent = isActive ? `Following, ${received}` : 'Subscribing'
  }

  function add(event: ReceivedEvent): void {
    count++
    list.prepend(
      el(
        'li',
        {},
        el('header', {}, timeOf(new Date(event.timestamp)), el('code', {}, event.eventId)),
        jsonBlock(event.data, `Event ${event.eventId}`),
      ),
    )
    if (list.childElementCount > MAX_EVENTS) list.lastElementChild?.remove()
    show()
  }

  function onActive(): void {
    isActive = true
    show()
  }

  async function follow(): Promise<void> {
    const controller = new AbortController()
    following = controller
    isActive = false
    problem.replaceChildren()
    form.showIssues([])
    show()
    try {
      const options = { signal: controller.signal, onActive }
      for await (const event of subscriptions.follow(name, form.read(), options)) add(event)
    } catch (error) {
      if (!controller.signal.aborted) await fail(error)
    } finally {
      following = undefined
      show()
    }
  }

  async function fail(error: unknown): Promise<void> {
    const explanation = await explainError(error)
    problem.replaceChildren(...explanationBlock(explanation))
    form.showIssues(issuesOf(explanation.headline, explanation.data, form.names))
  }

  const element = el(
    'form',
    { class: 'card' },
    el('h2', { class: 'label' }, name),
    el('p', { class: 'eyebrow' }, ...delivery.map((mode) => el('span', { class: 'chip' }, mode))),
    description !== undefined && el('p', { class: 'description' }, description),
    form.element,
    el('footer', {}, submit, el('span', { class: 'space' }), form.toggle),
    status,
    problem,
    list,
  )
  element.addEventListener('submit', (event) => {
    event.preventDefault()
    if (following) following.abort()
    else void follow()
  })
  return element
}
