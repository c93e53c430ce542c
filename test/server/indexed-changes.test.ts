// Changes for many listeners: each receives those that it requested, once.
import { describe, expect, it } from 'vitest'
import { createServer } from '../../src/presets/server.ts'
import { indexChanges } from '../../src/server/indexed-changes.ts'
import type { ServerChange, SubscribeOptions } from '../../src/server/notifier.ts'

/** A server whose source of changes has listeners with these filters. */
async function listening<Name extends string>(filters: Record<Name, SubscribeOptions['filter']>) {
  const errors: unknown[] = []
  const { notify } = createServer({ name: 'travel', version: '1.0.0' })
  const source = indexChanges(notify, (error) => errors.push(error))
  const received: [Name, string][] = []
  const stops = new Map<Name, () => void>()
  for (const name of Object.keys(filters) as Name[]) {
    const filter = filters[name]
    const listener = (change: ServerChange): void => {
      received.push([name, 'uri' in change ? change.uri : change.method])
    }
    stops.set(name, await source.subscribe(listener, filter ? { filter } : {}))
  }
  return { notify, source, received, stops, errors }
}

describe('a listener with a filter', () => {
  it('receives updates of its resources and of those below them only [M-SUB-018]', async () => {
    const { notify, received } = await listening({
      city: { resourceSubscriptions: ['travel://no/oslo', 'travel://no/oslo'] },
      country: { resourceSubscriptions: ['travel://no/'] },
      other: { resourceSubscriptions: ['travel://no/osl', 'travel://se'] },
    })
    notify.resourceUpdated('travel://no/oslo')
    notify.resourceUpdated('travel://no/oslo/fjord')
    notify.resourceUpdated('travel://no')
    expect(received.toSorted()).toEqual([
      ['city', 'travel://no/oslo'],
      ['city', 'travel://no/oslo/fjord'],
      ['country', 'travel://no/oslo'],
      ['country', 'travel://no/oslo/fjord'],
    ])
  })

  it('receives changes of the lists that it requested only', async () => {
    const { notify, received } = await listening({
      tools: { toolsListChanged: true, promptsListChanged: false },
      resources: { resourcesListChanged: true },
      nothing: {},
    })
    notify.toolsListChanged()
    notify.promptsListChanged()
    notify.resourcesListChanged()
    expect(received).toEqual([
      ['tools', 'notifications/tools/list_changed'],
      ['resources', 'notifications/resources/list_changed'],
    ])
  })

  it('receives nothing after it unsubscribed, and may subscribe again', async () => {
    const { notify, source, received, stops } = await listening({
      first: { toolsListChanged: true },
    })
    stops.get('first')?.()
    stops.get('first')?.()
    notify.toolsListChanged()
    expect(received).toEqual([])
    await source.subscribe(() => received.push(['first', 'again']))
    notify.toolsListChanged()
    expect(received).toEqual([['first', 'again']])
  })
})

describe('a listener without a filter', () => {
  it('receives every change', async () => {
    const { notify, received } = await listening({ all: undefined })
    notify.promptsListChanged()
    notify.resourceUpdated('travel://no')
    notify.elicitationComplete('1')
    expect(received.map(([, change]) => change)).toEqual([
      'notifications/prompts/list_changed',
      'travel://no',
      'notifications/elicitation/complete',
    ])
  })

  it('that throws does not keep changes from others', async () => {
    const { notify, source, received, errors } = await listening({})
    await source.subscribe(() => {
      throw new Error('listener')
    })
    await source.subscribe(() => received.push(['other' as never, 'received']))
    notify.toolsListChanged()
    expect(received).toHaveLength(1)
    await expect.poll(() => errors).toEqual([new Error('listener')])
  })
})
