/** Signs in through a port of this machine, as a program would. Runs on Node, Deno and Bun. */
import { loopback } from '../../../runtimes/node/loopback.ts'
import { createWorld, ISSUER } from '../../authorization/world.ts'

const world = createWorld()
const interaction = loopback({
  async open(url) {
    const { headers } = await world.fetch(url)
    await fetch(headers.get('location') ?? '')
  },
})
const client = await world.connect(world.signIn({ interaction }))
const tools = await client.listAllTools()
await client.close()
const count = world.to(`${ISSUER}/authorize`).length
console.log(`${JSON.stringify(tools.map(({ name }) => name))} after ${count} sign-in`)
