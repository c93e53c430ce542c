// What an application's bundler takes along from the built package. Weights are `npm run size`.
import { describe, expect, it } from 'vitest'
import { weigh } from '../bench/size.ts'

describe('Bundle of the client', () => {
  it('has no server, no schema library, no validator and no authorization', async () => {
    const { files } = await weigh(`export { connect } from 'edgewise/client'`)
    const paths = files.map(([path]) => path)
    expect(paths).toContain('dist/src/client/client.js')
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
    const { files } = await weigh(`export { createServer, createHandler } from 'edgewise/server'`)
    const paths = files.map(([path]) => path)
    expect(paths).toContain('dist/src/server/server.js')
    expect(
      paths.filter((path) =>
        /src\/(client|authorization|protected-resource)\/|zod|json-schema|jose|oauth4webapi/.test(
          path,
        ),
      ),
    ).toEqual([])
  })
})
