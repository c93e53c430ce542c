import { describe, expect, it } from 'vitest'
import {
  cardHandler,
  chooseRemote,
  compareCard,
  fetchCard,
  serverCard,
} from '../../src/cards/index.ts'
import type { ServerCard } from '../../src/cards/types.ts'
import { connect } from '../../src/presets/client.ts'
import { createHandler, createServer, type Server } from '../../src/presets/server.ts'
import type { Implementation } from '../../src/index.ts'
import { cardOf } from './site.ts'

const CARD_URL = 'https://weather.example.com/mcp/server-card'
const INFO = {
  ...{ name: 'weather', version: '1.0.0', title: 'Weather', description: 'Tells the weather.' },
  ...{ websiteUrl: 'https://example.com', icons: [{ src: 'https://example.com/i.png' }] },
}

function membersOf(
  card: Partial<ServerCard>,
  serverInfo: object | undefined,
  revision = '2026-07-28',
): string[] {
  const client = { serverInfo: serverInfo as Implementation | undefined, revision }
  return compareCard({ ...cardOf(), ...card }, client).map(({ member }) => member)
}

/** Serves a server and its card, and connects to it through the card. */
async function connectThroughCard(server: Server, change: Partial<ServerCard> = {}) {
  const remotes = ['https://weather.example.com/mcp']
  const card = { ...serverCard(server, { name: 'com.example/weather', remotes }), ...change }
  const [cards, handle] = [cardHandler(card), createHandler(server)]
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const request = new Request(url, init)
    return (await cards(request)) ?? handle(request)
  }
  const found = await fetchCard(CARD_URL, { fetch })
  const { url, headers } = await chooseRemote(found)
  const client = await connect(url, { headers, fetch })
  return { client, differences: compareCard(found.card, client) }
}

describe('A card', () => {
  it('agrees with the server that it was made from [E-CARD-087]', async () => {
    const { client, differences } = await connectThroughCard(createServer(INFO))
    await using _ = client
    expect(differences).toEqual([])
  })

  it('that differs from its server is reported, and the connection works [E-CARD-082] [E-CARD-086]', async () => {
    const change = {
      ...{ name: 'com.example/other', version: '2.0.0', title: 'Other', description: 'Other.' },
      ...{ websiteUrl: 'https://other.example', icons: [{ src: 'https://example.com/other.png' }] },
    }
    const remotes: ServerCard['remotes'] = [
      {
        type: 'streamable-http',
        url: 'https://weather.example.com/mcp',
        supportedProtocolVersions: ['2025-06-18'],
      },
    ]
    const { client, differences } = await connectThroughCard(createServer(INFO), {
      ...change,
      remotes,
    })
    await using _ = client
    expect(client.serverInfo).toMatchObject(INFO)
    const members = ['name', 'version', 'title', 'description', 'websiteUrl', 'icons'] as const
    expect(differences).toEqual([
      ...members.map((member) => ({ member, card: change[member], server: INFO[member] })),
      { member: 'revision', card: ['2025-06-18'], server: '2026-07-28' },
    ])
  })

  it('has the name of the server, or that name after a domain [E-CARD-083]', () => {
    const version = '1.0.0'
    expect(membersOf({}, { name: 'weather', version })).toEqual([])
    expect(membersOf({}, { name: 'com.example/weather', version })).toEqual([])
    expect(membersOf({}, { name: 'Weather', version })).toEqual(['name'])
  })

  it('is compared only in what both state [E-CARD-084]', () => {
    expect(membersOf({ title: 'A' }, { name: 'weather' })).toEqual([])
    expect(membersOf({}, { ...INFO, title: 'Only the server' })).toEqual([])
    expect(membersOf({ title: 'A' }, undefined)).toEqual([])
  })

  it('differs in icons only if their members differ', () => {
    const icons = [{ src: 'a:b', mimeType: 'image/png' }]
    expect(
      membersOf({ icons }, { ...INFO, icons: [{ mimeType: 'image/png', src: 'a:b' }] }),
    ).toEqual([])
  })

  it('differs if it lists versions, but not the negotiated one [E-CARD-085]', () => {
    const listing = (...supportedProtocolVersions: string[]): Partial<ServerCard> => ({
      remotes: [{ type: 'streamable-http', url: 'https://a.example', supportedProtocolVersions }],
    })
    expect(membersOf(listing('2025-11-25'), INFO)).toEqual(['revision'])
    expect(membersOf(listing('2025-11-25', '2026-07-28'), INFO)).toEqual([])
    expect(membersOf({}, INFO)).toEqual([])
  })

  it('has texts that are passed on as they are, for the application to show as text [E-CARD-088]', () => {
    const title = '<img src=x onerror=alert(1)>'
    const client = { serverInfo: { ...INFO, title: 'Weather' }, revision: '2026-07-28' }
    expect(compareCard(cardOf('weather', { title }), client)).toEqual([
      { member: 'title', card: title, server: 'Weather' },
    ])
  })
})
