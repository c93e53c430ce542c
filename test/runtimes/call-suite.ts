// What every revision must do on every runtime for a client that calls, whichever client it is and
// over any transport.
import type { Client, ConnectOptions } from 'edgewise/client/tiny'
import type { CompleteResult, JsonObject, ResourceTemplate, Revision } from 'edgewise'
import { equal, ok, rejection, until, type Suite } from './harness.ts'
import { aborted, running } from './server.ts'

/** Connects a client that speaks one revision to the server of the suite. */
export type OpenTiny = (options: ConnectOptions & { revision: Revision }) => Promise<Client>

/** The tests of calling in one revision; `over` names client and transport in their titles. */
export function callSuite(over: string, revision: Revision, open: OpenTiny): Suite {
  const title = (what: string): string => `${revision} ${over}: ${what}`
  const hasTitles = revision >= '2025-06-18'

  async function using<T>(run: (client: Client) => Promise<T>): Promise<T> {
    await using client = await open({ revision })
    return await run(client)
  }

  return {
    [title('The client receives the info and the capabilities of the server')]: () =>
      using(async (client) => {
        equal(client.revision, revision)
        equal(client.serverInfo?.name, 'portable')
        equal(client.instructions, 'Call add.')
        const capabilities = Object.keys(client.serverCapabilities ?? {})
        for (const name of ['tools', 'resources', 'prompts']) ok(capabilities.includes(name), name)
      }),

    [title('Tools are listed across pages, with their schemas')]: () =>
      using(async (client) => {
        const names: string[] = []
        for await (const tool of client.tools()) names.push(tool.name)
        equal(names, ['add', 'show', 'count', 'refuse', 'crash', 'ask', 'sample', 'roots', 'wait'])
        const add = (await client.listAllTools())[0]
        equal(add?.inputSchema.required, ['a', 'b'])
        equal(add?.title, hasTitles ? 'Adder' : undefined)
      }),

    [title('A tool answers with structured content and its text')]: () =>
      using(async (client) => {
        const result = await client.callTool('add', { a: 2, b: 3 })
        equal(result.structuredContent, hasTitles ? { sum: 5 } : undefined)
        equal(result.content, [{ type: 'text', text: '{"sum":5}' }])
      }),

    [title('Text, bytes and links arrive unchanged')]: () =>
      using(async (client) => {
        const { content } = await client.callTool('show')
        equal(content[0], { type: 'text', text: 'æøå 🦉' })
        equal(content[1], { type: 'image', data: 'AAH+/w==', mimeType: 'image/png' })
        equal(content[2]?.type, hasTitles ? 'resource_link' : 'text')
      }),

    [title('A call reports progress and logs')]: async () => {
      const progress: unknown[] = []
      const logs: unknown[] = []
      await using client = await open({
        revision,
        onLog: ({ level, data }) => logs.push([level, data]),
      })
      // In a session a level holds for all requests, otherwise each says it
      if (revision !== '2026-07-28') await client.request('logging/setLevel', { level: 'info' })
      const result = await client.callTool(
        'count',
        { to: 3 },
        {
          logLevel: 'info',
          onProgress: ({ progress: at, total }) => progress.push([at, total]),
        },
      )
      equal(result.content, [{ type: 'text', text: 'counted' }])
      equal(progress, [
        [1, 3],
        [2, 3],
        [3, 3],
      ])
      equal(logs, [
        ['info', { at: 1 }],
        ['info', { at: 2 }],
        ['info', { at: 3 }],
      ])
    },

    [title('A failed tool exposes only the message of a ToolError to the model')]: () =>
      using(async (client) => {
        const refused = await client.callTool('refuse')
        equal([refused.isError, refused.content], [true, [{ type: 'text', text: 'No seats left' }]])
        const crashed = await client.callTool('crash')
        equal(crashed.isError, true)
        ok(!JSON.stringify(crashed).includes('hunter2'), 'A secret leaked')
      }),

    [title('A call of an unknown tool is answered with -32602')]: () =>
      using(async (client) => {
        equal((await rejection(client.callTool('constructor'))).code, -32602)
      }),

    [title('Resources and templates are listed and read')]: () =>
      using(async (client) => {
        const uris = (await client.listAllResources()).map(({ uri }) => uri)
        equal(uris, ['note://1', 'blob://1'])
        const { resourceTemplates } = await client.request('resources/templates/list')
        equal(
          (resourceTemplates as ResourceTemplate[]).map((one) => one.uriTemplate),
          ['city://{country}/{name}'],
        )
        const [note] = (await client.readResource('note://1')).contents
        equal(note, { uri: 'note://1', mimeType: 'text/plain', text: 'The first note' })
        const [blob] = (await client.readResource('blob://1')).contents
        equal(blob && 'blob' in blob && blob.blob, 'AAH+/w==')
        const [city] = (await client.readResource('city://Norge/%C3%85lesund')).contents
        equal(city && 'text' in city && city.text, 'Ålesund in Norge')
      }),

    [title('An unknown resource is answered with the error of the revision')]: () =>
      using(async (client) => {
        const error = await rejection(client.readResource('note://none'))
        equal(error.code, revision === '2026-07-28' ? -32602 : -32002)
      }),

    [title('A prompt is listed, filled in and refused without its argument')]: () =>
      using(async (client) => {
        equal((await client.listAllPrompts())[0]?.arguments?.[0]?.name, 'name')
        const { messages } = await client.getPrompt('greet', { name: 'Ada' })
        equal(messages, [{ role: 'user', content: { type: 'text', text: 'Say hello to Ada' } }])
        equal((await rejection(client.getPrompt('greet'))).code, -32602)
      }),

    [title('Arguments are completed')]: () =>
      using(async (client) => {
        const complete = async (ref: JsonObject, value: string): Promise<unknown> => {
          const params = { ref, argument: { name: 'name', value } }
          const result = await client.request('completion/complete', params)
          return (result as CompleteResult).completion.values
        }
        equal(await complete({ type: 'ref/prompt', name: 'greet' }, 'A'), ['Ada', 'Alan'])
        const template = { type: 'ref/resource', uri: 'city://{country}/{name}' }
        equal(await complete(template, 'O'), ['Oslo'])
      }),

    [title('An aborted call rejects at once, and its tool is cancelled')]: () =>
      using(async (client) => {
        const name = `${revision} ${over}`
        const controller = new AbortController()
        const call = rejection(client.callTool('wait', { name }, { signal: controller.signal }))
        await until('The tool runs', () => running.includes(name))
        controller.abort()
        equal((await call).code, 'ABORTED')
        await until('The tool is cancelled', () => aborted.includes(name))
      }),

    [title('A call that takes too long rejects')]: () =>
      using(async (client) => {
        const call = client.callTool('wait', { name: 'late' }, { timeoutMs: 30 })
        equal((await rejection(call)).code, 'TIMEOUT')
      }),

    [title('Calls at the same time get their own answers')]: () =>
      using(async (client) => {
        const sums = await Promise.all(
          Array.from({ length: 20 }, (_, a) => client.callTool('add', { a, b: 1 })),
        )
        equal(
          sums.map(({ content }) => content[0]),
          sums.map((_, a) => ({ type: 'text', text: `{"sum":${a + 1}}` })),
        )
      }),
  }
}

/** The tests of calling with a client that does nothing else. */
export function tinySuite(over: string, revision: Revision, open: OpenTiny): Suite {
  return {
    ...callSuite(over, revision, open),

    [`${revision} ${over}: A tool that has to ask fails at once`]: async () => {
      await using client = await open({ revision })
      const call = client.callTool('ask')
      if (revision === '2026-07-28') return equal((await rejection(call)).code, -32021)
      const { isError, content } = await call
      equal(isError, true)
      ok(JSON.stringify(content).includes('does not support'), 'It says so')
    },
  }
}
