// What servers import of the Workers' entry has to load where they are tested, which is no Worker.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type * as storage from '../../../runtimes/cloudflare/storage.ts'
import { createServer } from '../../../src/presets/server.ts'
import { connectInMemory } from '../../../src/testing/index.ts'
import { root } from '../../root.ts'

it('a server that uses session storage loads anywhere, and gets an error where no storage exists', async () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string>
  }
  const { objectStorage } = (await import(
    join(root, exports['./cloudflare/storage']!)
  )) as typeof storage
  const problems: unknown[] = []
  const onError = (error: unknown): unknown => problems.push(error)
  const server = createServer({ name: 's', version: '1' }, { onError })
  server.tool('visits', {}, async (_args, ctx) => String(await objectStorage(ctx).get('visits')))
  const client = await connectInMemory(server)
  const { isError, content } = await client.callTool('visits')
  expect([isError, content]).toMatchObject([true, [{ type: 'text' }]])
  expect(JSON.stringify([content, String(problems)])).toContain('requires a session')
})
