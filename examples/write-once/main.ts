// One server, unchanged, for every kind of client over every kind of transport: the official SDK v2
// without sessions and with them, the official v1, and Edgewise in each of the five revisions, over
// HTTP on Node, over HTTP on Cloudflare's workerd, and over stdio. All clients get the same results.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { serve } from 'edgewise/node'
import { build } from 'esbuild'
import { unstable_startWorker as startWorker } from 'wrangler'
import { edgewise, officialV1, officialV2, type Caller, type Open, type Target } from './clients.ts'
import { server } from './server.ts'

// The example works offline.
process.env.WRANGLER_SEND_METRICS = 'false'
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false'

const http = await serve(server, { port: 0 })
const worker = await startWorker({
  config: fileURLToPath(new URL('wrangler.toml', import.meta.url)),
  dev: { server: { port: 0 }, inspector: false, persist: false, logLevel: 'error', watch: false },
})

// Each stdio client starts the program, so it is bundled once to start quickly.
const program = fileURLToPath(new URL('../../.cache/write-once.mjs', import.meta.url))
await build({
  entryPoints: [fileURLToPath(new URL('stdio.ts', import.meta.url))],
  outfile: program,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
})

const hosts: Record<string, Target> = {
  'HTTP on Node': http.url,
  'HTTP on workerd': new URL('/mcp', await worker.url).href,
  stdio: { command: process.execPath, args: [program] },
}

const clients: Record<string, Open> = {
  'official v2, without sessions': officialV2('modern'),
  'official v2, with sessions': officialV2('legacy'),
  'official v2, either': officialV2('auto'),
  'official v1': officialV1,
  'Edgewise 2026-07-28': edgewise('2026-07-28'),
  'Edgewise 2025-11-25': edgewise('2025-11-25'),
  'Edgewise 2025-06-18': edgewise('2025-06-18'),
}

/** Revisions before 2025-06-18 have no elicitation, only sampling and roots. */
const older: Record<string, Open> = {
  'Edgewise 2025-03-26': edgewise('2025-03-26'),
  'Edgewise 2024-11-05': edgewise('2024-11-05'),
}

for (const [host, target] of Object.entries(hosts)) {
  for (const [name, open] of Object.entries(clients)) {
    const client = await open(target)
    const order = `${name}, ${host}`
    assert.equal(
      await client.callTool('plan', { order, city: 'Oslo' }),
      '2 nights in Oslo for 240, Fjords for everyone, kept in trips, quoted 1 time(s)',
    )
    assert.deepEqual(client.asked.slice(0, 2), [
      'How many nights in Oslo?',
      '2 nights in Oslo for 240?',
    ])
    assert.deepEqual(client.asked.slice(2).toSorted(), ['roots', 'sampling'])
    await checkSampling(client)
    assert.equal(
      await client.getPrompt('letter', { city: 'Oslo' }),
      'Write a letter from Oslo, signed by Ada',
    )
    await client.close()
    console.log(`${host}: ${name}`)
  }

  for (const [name, open] of Object.entries(older)) {
    const client = await open(target)
    // The name ends with the revision
    const revision = name.slice(-'2025-03-26'.length)
    assert.equal(
      await client.callTool('plan', { order: name, city: 'Oslo' }),
      `Revision ${revision} does not support "elicitation/create"`,
    )
    await assert.rejects(client.getPrompt('letter', { city: 'Oslo' }), {
      message: `Revision ${revision} does not support "elicitation/create"`,
    })
    assert.deepEqual(client.asked, [])
    await checkSampling(client)
    await client.close()
    console.log(`${host}: ${name}`)
  }
}

/** Checks sampling, which every revision supports. */
async function checkSampling(client: Caller): Promise<void> {
  assert.equal(await client.callTool('advertise', { city: 'Oslo' }), 'Fjords for everyone')
  assert.equal(await client.readResource('travel://slogan'), 'Fjords for everyone')
}

await http.close()
await worker.dispose()
