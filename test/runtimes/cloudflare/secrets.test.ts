// Secrets that change while states and session ids are under way.
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { lastMessage, openSession, postModern } from '../../transport/streamable-http/post.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

const OLD = 'the-secret-of-yesterday'
const NEW = 'the-secret-of-tomorrow'

let script: string
let workerd: Workerd
let bindings: Record<string, string>

beforeAll(async () => {
  script = await bundleWorker('rotating.ts')
})
afterEach(() => workerd.stop())

async function startWith(given: Record<string, string>): Promise<void> {
  bindings = given
  workerd = await startWorker(script, { bindings })
}

/** Deploys the same code with other secrets; none at all lets one be minted. */
async function deployWith(...secrets: string[]): Promise<void> {
  if (secrets.length > 0) bindings.SECRETS = secrets.join(' ')
  else delete bindings.SECRETS
  await workerd.restart()
}

const params = { name: 'confirm', arguments: { what: 'tea' } }
const capabilities = { elicitation: {} }

/** Begins a round; gives what ends it. */
async function begin(): Promise<() => Promise<Response>> {
  const first = await postModern(workerd.handle, 'tools/call', params, capabilities)
  const { inputRequests, requestState } = (await lastMessage(first)).result
  const [key] = Object.keys(inputRequests as object)
  const inputResponses = { [key!]: { action: 'accept', content: { yes: true } } }
  const again = { ...params, requestState, inputResponses }
  return () => postModern(workerd.handle, 'tools/call', again, capabilities)
}

async function expectBought(response: Response): Promise<void> {
  const { result } = await lastMessage(response)
  expect(result).toHaveProperty('content.0.text', 'bought: true')
}

/** The client is asked to start over, and nothing ran. */
async function expectUnknown(response: Response): Promise<void> {
  expect((await lastMessage(response)).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining('requestState') as string,
  })
}

describe('A round of input', () => {
  it('continues with a new secret in front of the one that sealed it', async () => {
    await startWith({ SECRETS: OLD })
    const finish = await begin()
    await deployWith(NEW, OLD)
    await expectBought(await finish())
    const finishNew = await begin()
    await deployWith(NEW)
    await expectBought(await finishNew())
    await expectUnknown(await finish())
  })

  it('continues with the secret that was minted, however often the Worker is deployed', async () => {
    await startWith({})
    const finish = await begin()
    await deployWith()
    await expectBought(await finish())
  })

  it('has to start over after a configured secret replaced a generated one, or was removed', async () => {
    await startWith({})
    const minted = await begin()
    await deployWith(NEW)
    await expectUnknown(await minted())
    const given = await begin()
    await expectBought(await given())
    await deployWith()
    await expectUnknown(await given())
    await expectBought(await minted())
  })
})

describe('The id of an unknown session', () => {
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }

  it('is known as long as its secret is one of those given', async () => {
    await startWith({ SECRETS: OLD, STATELESS: 'yes' })
    const old = await openSession(workerd.handle)
    await deployWith(NEW, OLD)
    expect((await old.send(ping)).status).toBe(200)
    const young = await openSession(workerd.handle)
    await deployWith(NEW)
    expect((await old.send(ping)).status, 'Its client opens another one').toBe(404)
    expect((await young.send(ping)).status).toBe(200)
  })
})

describe('Secrets that are no secrets', () => {
  it.each(['yes', 'no'])('are refused when the Worker starts, stateless: %s', async (stateless) => {
    await startWith({ SECRETS: NEW, STATELESS: stateless })
    for (const bad of ['', 'short', `${NEW} short`]) {
      const failed = startWorker(script, { bindings: { SECRETS: bad, STATELESS: stateless } })
      await expect(failed, bad).rejects.toThrow('at least 16 characters')
    }
  })

  it('are named where they are MCP_SECRET of the environment [P025]', async () => {
    await startWith({ SECRETS: NEW })
    const stateless = await bundleWorker('stateless.ts')
    for (const bad of ['', 'short']) {
      const failed = startWorker(stateless, { bindings: { MCP_SECRET: bad } })
      await expect(failed, bad).rejects.toThrow('"MCP_SECRET" must have at least 16 characters')
    }
  })
})
