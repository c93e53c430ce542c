// A schema without a library, because a schema library may be larger than the server.
import type { StandardSchema } from 'edgewise'

export const person: StandardSchema<{ name: string }> = {
  '~standard': {
    version: 1,
    vendor: 'my-server',
    validate(value) {
      const { name } = (value ?? {}) as { name?: unknown }
      if (typeof name === 'string') return { value: { name } }
      return { issues: [{ message: 'Must be text', path: ['name'] }] }
    },
    jsonSchema: {
      input: () => ({
        type: 'object',
        properties: { name: { type: 'string' } },
        required: ['name'],
      }),
      output: () => ({ type: 'object' }),
    },
  },
}
