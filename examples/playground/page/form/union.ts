/**
 * The field of a value with alternative schemas. The user first chooses the alternative.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#name-anyof
 */
import { el } from '../dom.ts'
import { choice, labelled, type Field, type FieldFacts, type MakeField } from './label.ts'
import { indexOfVariant, type Variant } from './shape.ts'

/** Creates a list of the alternatives, with the field of the chosen one below. */
export function union(
  facts: FieldFacts,
  variants: readonly Variant[],
  makeField: MakeField,
): Field {
  const { required, value, root, depth, room } = facts
  const matching = value === undefined ? -1 : indexOfVariant(variants, value)
  const titles = variants.map(({ title }) => title)
  const chosen = required ? Math.max(matching, 0) : matching
  const control = choice(titles, chosen, false, required ? undefined : 'None')
  const container = el('div', { class: 'variant' })
  let shown: Field | undefined

  function show(initialValue: unknown): void {
    const variant = variants[control.value === '' ? -1 : Number(control.value)]
    shown =
      variant &&
      makeField({
        name: variant.title,
        schema: variant.schema,
        required: true,
        root,
        depth: depth + 1,
        room,
        value: initialValue,
        quiet: true,
      })
    container.replaceChildren(shown?.element ?? '')
  }
  control.addEventListener('change', () => show(undefined))
  show(value)

  const field = labelled(facts, { control, read: () => shown?.read() })
  field.element.append(container)
  return { ...field, part: (key) => shown?.part?.(key) }
}
