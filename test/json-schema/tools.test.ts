import { describe, expect, it } from 'vitest'
import { jsonSchema, outputValidator } from '../../src/json-schema/index.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import type { StandardSchema } from '../../src/protocol/standard-schema.ts'
import { createServer } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'

const input = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $defs: { night: { type: 'integer', minimum: 1, 'x-own': true } },
  type: 'object',
  properties: { city: { type: 'string' }, nights: { $ref: '#/$defs/night' } },
  required: ['city'],
  additionalProperties: false,
}
const output = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

describe('jsonSchema as the schema of a tool', () => {
  const server = createServer({ name: 'travel', version: '1' })
  server.tool(
    'book',
    {
      input: jsonSchema<{ city: string; nights?: number }>(input),
      output: jsonSchema<{ text: string }>(output),
    },
    ({ city, nights = 1 }) => ({ structuredContent: { text: `${nights} in ${city}` } }),
  )

  it('is listed as it was given [M-BASE-062]', async () => {
    await using client = await connectInMemory(server)
    const [tool] = await client.listAllTools()

    expect(tool?.inputSchema).toEqual(input)
    expect(tool?.outputSchema).toEqual(output)
  })

  it('reports invalid arguments to the model', async () => {
    await using client = await connectInMemory(server)
    const good = await client.callTool('book', { city: 'Oslo', nights: 2 })
    const bad = await client.callTool('book', { nights: 0, other: 1 })

    expect(good.structuredContent).toEqual({ text: '2 in Oslo' })
    expect(bad.isError).toBe(true)
    expect(JSON.stringify(bad.content)).toContain('nights: 0 is less than 1')
    expect(JSON.stringify(bad.content)).toContain('required property \\"city\\"')
  })
})

describe('outputValidator', () => {
  const call = async (shown: JsonObject, structuredContent: unknown) => {
    // A server whose own check lets everything pass.
    const careless: StandardSchema = {
      '~standard': {
        ...jsonSchema({})['~standard'],
        jsonSchema: { input: () => shown, output: () => shown },
      },
    }
    const server = createServer({ name: 'careless', version: '1' })
    server.tool('give', { output: careless }, () => ({ structuredContent }))
    await using client = await connectInMemory(server, { validateOutput: outputValidator() })
    await client.listAllTools()
    return await client.callTool('give', {})
  }

  it("holds a server's structured output against its schema", async () => {
    await expect(call(output, { text: 'x' })).resolves.toMatchObject({
      structuredContent: { text: 'x' },
    })
    await expect(call(output, { text: 1 })).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
      message: expect.stringContaining('text: Instance type "number" is invalid'),
    })
  })

  it.each([
    ['an external reference [M-BASE-059]', { $ref: 'https://example.com/x' }, 'Cannot resolve'],
    ['an unknown dialect [M-BASE-052]', { $schema: 'https://example.com/x' }, 'not supported'],
    ['an invalid type [L-COM-010]', { type: 'objct' }, '#/properties/a/type'],
  ])('refuses output when the schema has %s', async (_, part, message) => {
    const shown = { type: 'object', properties: { a: part } }

    await expect(call(shown, {})).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
      message: expect.stringContaining(message),
    })
  })
})
