/**
 * The client under test for the official conformance suite.
 *
 * The suite starts it once per scenario: the last argument is the URL of the suite's server;
 * `MCP_CONFORMANCE_SCENARIO` names the scenario, and `MCP_CONFORMANCE_CONTEXT` may hold a JSON object
 * with its settings. `MCP_CONFORMANCE_PROTOCOL_VERSION` names the revision, but the client is supposed
 * to detect that automatically. The suite observes the traffic; the exit code shows whether the client
 * completed the scenario.
 *
 * @see https://github.com/modelcontextprotocol/conformance
 */
import type { AuthorizationRedirect } from '../src/authorization/authorization-flow.ts'
import {
  clientCredentials,
  dpop,
  enterpriseManaged,
  privateKeyJwt,
  signIn,
  workloadIdentity,
  type SignIn,
} from '../src/authorization/index.ts'
import { connect, type Client, type ConnectOptions } from '../src/presets/client.ts'
import type { JsonObject } from '../src/index.ts'
import { listAllSkills, loadSkill } from '../src/skills/index.ts'

const { env, argv } = globalThis.process

const url = argv.at(-1) ?? ''
const scenario = env.MCP_CONFORMANCE_SCENARIO ?? ''

const options: ConnectOptions = {
  info: { name: 'edgewise-everything', version: '1.0.0' },
  roots: [{ uri: 'file:///home/user/project', name: 'project' }],
  onElicit: () => ({ action: 'accept', content: { confirmed: true } }),
  onSample: () => ({
    role: 'assistant',
    content: { type: 'text', text: 'A sampled answer' },
    model: 'none',
  }),
}

/** Lists the tools and calls the first one. */
async function callFirstTool(client: Client): Promise<void> {
  const [tool] = await client.listAllTools()
  if (tool) await client.callTool(tool.name, { a: 2, b: 3 })
}

/** Calls every tool that the client lists. */
async function callAllTools(client: Client, args: JsonObject): Promise<void> {
  for (const { name } of await client.listAllTools()) await client.callTool(name, args)
}

/** Lists everything, and reads the first item of each kind. */
async function useEverything(client: Client): Promise<void> {
  await callFirstTool(client)
  const [resource] = await client.listAllResources()
  if (resource) await client.readResource(resource.uri)
  const [prompt] = await client.listAllPrompts()
  if (prompt) await client.getPrompt(prompt.name)
}

/** Calls the tools that the context names, with its arguments. */
async function callToolsOfContext(client: Client): Promise<void> {
  const { toolCalls } = JSON.parse(env.MCP_CONFORMANCE_CONTEXT ?? '{}') as {
    toolCalls: { name: string; arguments: JsonObject }[]
  }
  await client.listAllTools()
  for (const call of toolCalls) await client.callTool(call.name, call.arguments)
}

/** Passes the schema of one tool as the argument of another. */
async function echoSchema(client: Client): Promise<void> {
  const tools = await client.listAllTools()
  const richTool = tools.find(({ name }) => name === 'json_schema_2020_12_tool')
  await client.callTool('json_schema_echo', { schema: richTool?.inputSchema })
}

/** Makes an unrelated call while another call waits for the input that its retry carries. */
async function callDuringRounds(client: Client): Promise<void> {
  const tools = (await client.listAllTools()).map(({ name }) => name)
  await Promise.all(tools.map((name) => client.callTool(name)))
}

/** Loads the first skill and reads another of its files, unless the skill is invalid. */
async function loadFirstSkill(client: Client): Promise<void> {
  const [skill] = await listAllSkills(client)
  if (!skill) return
  const loaded = await loadSkill(client, skill)
  await loaded.read('references/FORMS.md')
}

/** What the client does in each scenario, except in those of authorization. */
const actions: Record<string, (client: Client) => Promise<unknown>> = {
  // The servers of these two scenarios offer nothing.
  initialize: (client) => client.ping(),
  'request-metadata': (client) => client.ping(),
  tools_call: callFirstTool,
  'sse-retry': callFirstTool,
  'elicitation-sep1034-client-defaults': callFirstTool,
  'http-standard-headers': useEverything,
  'http-custom-headers': callToolsOfContext,
  'http-invalid-tool-headers': (client) => callAllTools(client, { region: 'us-west1' }),
  'json-schema-ref-no-deref': (client) => client.listAllTools(),
  'json-schema-2020-12-preservation': echoSchema,
  'sep-2322-client-request-state': callDuringRounds,
  'sep-2640-client-no-prefetch': (client) => listAllSkills(client),
  'sep-2640-client-verify-digest': loadFirstSkill,
  'sep-2640-client-verify-size': loadFirstSkill,
  'sep-2640-client-verify-frontmatter': loadFirstSkill,
}

/** The settings that the suite passes to the clients of a scenario; each scenario has its own. */
type Context = Readonly<
  Record<
    | 'client_id'
    | 'client_secret'
    | 'idp_client_id'
    | 'idp_id_token'
    | 'idp_issuer'
    | 'idp_token_endpoint'
    | 'issuer'
    | 'private_key_pem'
    | 'signing_algorithm'
    | 'valid_jwt',
    string
  >
>

/** A user who consents at once: the suite's authorization servers show no consent page. */
const redirect: AuthorizationRedirect = {
  redirectUri: 'http://localhost:3000/callback',
  async go(target) {
    const response = await fetch(target, { redirect: 'manual' })
    return response.headers.get('location') ?? ''
  },
}

/** The issuer that the suite's server names: scenarios with credentials pass it in no other way. */
async function namedIssuer(): Promise<string> {
  const { origin, pathname } = new URL(url)
  for (const path of [pathname, '']) {
    const response = await fetch(`${origin}/.well-known/oauth-protected-resource${path}`)
    if (!response.ok) continue
    const { authorization_servers: issuers } = (await response.json()) as JsonObject
    if (Array.isArray(issuers)) return String(issuers[0])
  }
  throw new Error(`"${url}" names no authorization server`)
}

/** Chooses the authentication that the scenario needs. */
async function chooseAuth(context: Context): Promise<SignIn> {
  const { issuer, client_id: clientId, client_secret: clientSecret } = context
  if (scenario === 'auth/client-credentials-basic') {
    return clientCredentials({ issuer: await namedIssuer(), clientId, clientSecret })
  }
  if (scenario === 'auth/client-credentials-jwt') {
    const key = { key: context.private_key_pem, alg: context.signing_algorithm }
    const authentication = privateKeyJwt(key)
    return clientCredentials({ issuer: await namedIssuer(), clientId, authentication })
  }
  if (scenario === 'auth/wif-jwt-bearer') {
    return workloadIdentity({
      issuer: await namedIssuer(),
      assertion: () => context.valid_jwt,
    })
  }
  if (scenario === 'auth/enterprise-managed-authorization') {
    return enterpriseManaged({
      issuer: await namedIssuer(),
      clientId,
      clientSecret,
      identityProvider: { issuer: context.idp_issuer, clientId: context.idp_client_id },
      subject: () => ({ token: context.idp_id_token }),
    })
  }
  const metadataUrl = 'https://conformance-test.local/client-metadata.json'
  return signIn({
    client: {
      name: 'edgewise-everything',
      ...(scenario === 'auth/basic-cimd' && { metadataUrl }),
    },
    credentials: issuer ? [{ issuer, clientId, clientSecret }] : [],
    oldServers: scenario.startsWith('auth/2025-03-26-'),
    ...(scenario.startsWith('auth/dpop') && { proofs: dpop() }),
    interaction: { begin: () => redirect },
  })
}

const signsIn = scenario.startsWith('auth/')
if (signsIn) {
  const context = JSON.parse(env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Context
  Object.assign(options, { auth: await chooseAuth(context) })
}

const action = signsIn ? callFirstTool : actions[scenario]
if (!action) throw new Error(`This client does not support the scenario "${scenario}"`)
if (scenario === 'elicitation-sep1034-client-defaults') {
  // Tests that the form's defaults are used for fields that the user left out.
  Object.assign(options, { onElicit: () => ({ action: 'accept', content: {} }) })
}

await using client = await connect(url, options)
await action(client)
