import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { root } from '../root.ts'

/** The text of a section of a page, up to the next heading of the same level. */
function section(page: string, heading: string): string {
  const text = readFileSync(`${root}docs/guides/${page}.md`, 'utf8')
  const start = text.indexOf(`${heading}\n`)
  expect(start, `"${page}" has "${heading}"`).toBeGreaterThan(-1)
  const level = heading.slice(0, heading.indexOf(' ') + 1)
  const end = text.slice(start + heading.length).search(new RegExp(`\n#{2,${level.length - 1}} `))
  return end < 0 ? text.slice(start) : text.slice(start, start + heading.length + end)
}

describe('The guide for authors of extensions', () => {
  const text = section('extensions', '### Publish an extension')

  it('shows how to package an extension, which versions it fits, and how to enable it [E-EXT-072]', () => {
    expect(text).toMatch(/\*\*Package\*\*.*entry point/)
    expect(text).toMatch(/\*\*Versions\*\*.*"peerDependencies": \{ "edgewise"/)
    expect(text).toContain('server.extend(')
    expect(text).toMatch(/connect\(.*extensions: \[/)
  })

  it('says what an extension leaves alone: filters, reserved codes, members of the protocol [E-EXT-071]', () => {
    expect(text).toContain('Do not add members to the filter')
    expect(text).toContain('-32768 to -32000')
    expect(text).toContain('`_meta`')
  })
})

describe('The guide to middleware', () => {
  it('documents where middleware is, and in which order it runs [E-EXT-068]', () => {
    const server = section('middleware', '### Notifications and requests for input')
    expect(server).toMatch(/after they are parsed.*before their arguments are validated/)
    expect(server).toMatch(/before they are checked.*written/)
    const client = section('middleware', '## On a client')
    expect(client).toMatch(/before the client checks it.*sends it/)
    expect(client).toContain('through this list in its order, and then through the middleware of')
  })
})
