// Cards and catalogs of other publishers, as their public repositories contain them, with shorter texts.
import { describe, expect, it } from 'vitest'
import { chooseRemote, discover } from '../../src/cards/index.ts'
import foreign from './fixtures/foreign.json' with { type: 'json' }
import { json, sites } from './site.ts'

interface Publisher {
  pages: Record<string, object>
  found: { displayName: string; remote: string }[]
  /** The steps that failed. */
  failures: string[]
}

const publishers: [string, Publisher][] = Object.entries(foreign)

describe('The cards of other publishers', () => {
  it.each(publishers)('at %s are found, or reported with the reason', async (domain, publisher) => {
    const { fetch } = sites(publisher.pages)
    const { cards, failures } = await discover(domain, { fetch, olderPaths: true })
    const found = cards.map(async (each) => {
      const { url } = await chooseRemote(each)
      return { displayName: each.displayName, remote: url }
    })
    expect(await Promise.all(found)).toEqual(publisher.found)
    const steps = failures.map(({ error }) => (error.data as { step: string }).step)
    expect(steps.toSorted()).toEqual(publisher.failures.toSorted())
  })

  it('of an earlier draft are refused with the members that are missing', async () => {
    const url = 'https://docs.example/.well-known/ai-catalog.json'
    const card = {
      name: 'agora-docs-search',
      version: '1.0.0',
      url: 'https://mcp.agora.io',
      transport: 'http',
      description: 'Search documentation.',
    }
    const type = 'application/mcp-server-card+json'
    const catalog = { specVersion: '1.0', entries: [{ identifier: 'x', type, data: card }] }
    const { failures } = await discover('docs.example', { fetch: sites({ [url]: catalog }).fetch })
    expect(failures.map(({ error }) => error.message)).toEqual([
      expect.stringContaining('"name" must be'),
    ])
    const old = { specVersion: '0.1', host: { domain: 'configbutler.ai' }, entries: [{ id: 'x' }] }
    const refused = discover('docs.example', { fetch: sites({ [url]: () => json(old) }).fetch })
    await expect(refused).rejects.toThrow('version 0.1 is not supported')
  })
})
