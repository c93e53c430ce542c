/**
 * The keywords of JSON Schema whose values contain schemas.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#name-keywords-for-applying-subsch
 */

/** The keywords whose value is a schema, or an array of schemas. */
export const SUBSCHEMAS: ReadonlySet<string> = new Set(
  'additionalItems additionalProperties allOf anyOf contains contentSchema else if items not oneOf prefixItems propertyNames then unevaluatedItems unevaluatedProperties'.split(
    ' ',
  ),
)
/** The keywords whose value is an object that maps arbitrary names to schemas. */
export const SCHEMA_MAPS: ReadonlySet<string> = new Set(
  '$defs definitions dependencies dependentSchemas patternProperties properties'.split(' '),
)
