/**
 * A labeled control for one value of a JSON Schema.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-validation
 */
import { el, newId } from '../dom.ts'
import { anyInput, anyNote, checkbox, checkboxes, input, jsonArea, select } from './controls.ts'
import { group } from './group.ts'
import { labelled, type Field, type FieldOptions } from './label.ts'
import { withLimits } from './limits.ts'
import { list } from './list.ts'
import { resolve } from './resolve.ts'
import { shapeOf, type Shape } from './shape.ts'
import { union } from './union.ts'

/** Creates the field for a schema. */
export function field(options: FieldOptions): Field {
  const schema = resolve(options.schema, options.root)
  const value = options.value ?? schema['default']
  const fullShape = shapeOf(schema, options.depth, options.root)
  // A recursive schema may have more fields than a page can show
  const isTooMuch = fullShape.kind === 'group' && fullShape.fields.length > options.room
  const shape: Shape = isTooMuch ? { kind: 'json' } : fullShape
  const facts = {
    ...options,
    schema,
    value,
    id: newId('field'),
    title: typeof schema['title'] === 'string' ? schema['title'] : options.name,
    description: withLimits(
      schema,
      typeof schema['description'] === 'string' ? schema['description'] : undefined,
    ),
  }
  // A required constant needs no input
  if ('const' in schema && options.required) {
    return { element: el('div', { hidden: true }), read: () => schema['const'] }
  }
  switch (shape.kind) {
    case 'union':
      return union(facts, shape.variants, field)
    case 'group':
      return group(facts, shape.fields, field)
    case 'list':
      return list(facts, shape.items, field)
    case 'choices':
      return checkboxes(facts, shape.options)
    case 'flag':
      return checkbox(facts)
    case 'choice':
      return labelled(facts, select(facts, shape.options))
    case 'json':
      return labelled(facts, jsonArea(facts))
    case 'any':
      return labelled({ ...facts, description: anyNote(facts.description) }, anyInput(facts))
    case 'text':
    case 'number':
    case 'integer':
      return labelled(facts, input(facts, shape.kind))
  }
}
