// What an application's bundler takes along. Weights are `npm run size`.
import { describe, expect, it } from 'vitest'
import { ingredients } from '../bench/size.ts'

describe('Bundle of the client', () => {
  it('has no server, no schema library, no validator and no authorization', async () => {
    const files = await ingredients(`export { connect } from 'edgewise/client'`)
    const paths = files.map(([path]) => path)
    expect(paths).toContain('src/client/client.ts')
    expect(
      paths.filter((path) =>
        /src\/(server|session|tasks|authorization|protected-resource)\/|zod|json-schema|jose|oauth4webapi/.test(
          path,
        ),
      ),
    ).toEqual([])
  })
})

describe('Bundle of the server', () => {
  it('has no client and no schema library', async () => {
    const files = await ingredients(`export { createServer, createHandler } from 'edgewise/server'`)
    const paths = files.map(([path]) => path)
    expect(paths).toContain('src/server/server.ts')
    expect(
      paths.filter((path) =>
        /src\/(client|authorization|protected-resource)\/|zod|json-schema|jose|oauth4webapi/.test(
          path,
        ),
      ),
    ).toEqual([])
  })
})
