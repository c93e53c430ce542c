/**
 * The schema of server cards, in the notation of `Shape`. The SDK contains the schema, because it is not published at
 * its address.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/schema.ts
 */
import { BOOLEAN, SHORT_TEXT, TEXT, URI, type Shape } from './shape.ts'

/** The publisher's domain in reverse, a slash and a name. */
export const SERVER_NAME: RegExp = /^(?=.{3,200}$)[a-z\d.-]+\/[\w.-]+$/i

/** A value that the user provides, or that the card sets. */
const INPUT: Shape = {
  description: TEXT,
  isRequired: BOOLEAN,
  isSecret: BOOLEAN,
  format: /^(?:string|number|boolean|filepath)$/,
  default: TEXT,
  placeholder: TEXT,
  value: TEXT,
  choices: [TEXT],
}

/** The members that cards and entries of the registry share. */
export const SHARED: Shape = {
  'name!': SERVER_NAME,
  // A version must not be a range, so it contains no comparison, no alternatives and no wildcard
  'version!': /^(?![\^~<>=]|.*\|\||(?:.*\.)?[x*](?:\.|$)).{1,255}$/isu,
  'description!': SHORT_TEXT,
  title: SHORT_TEXT,
  websiteUrl: URI,
  repository: {
    'url!': URI,
    'source!': TEXT,
    // A relative path that does not lead out of the repository
    subfolder: /^(?!\/|.*\.\.)/,
    id: TEXT,
  },
}

/** An input that may contain variables. */
export const INPUT_WITH_VARIABLES: Shape = { '&': INPUT, variables: { '*': INPUT } }

/** Inputs with names, such as headers. */
export const NAMED_INPUTS: Shape = [{ '&': INPUT_WITH_VARIABLES, 'name!': TEXT }]

/** An endpoint, in cards and in the registry. */
export const REMOTE: Shape = {
  'type!': /^(?:streamable-http|sse)$/,
  'url!': /^(?:https?:\/\/\S+|\{[a-zA-Z_]\w*\}\S*)$/,
  headers: NAMED_INPUTS,
  variables: { '*': INPUT },
}

/** A card of the first version. `requireCard` checks its `$schema`. */
export const CARD: Shape = {
  '&': SHARED,
  icons: [{ 'src!': URI, mimeType: TEXT, sizes: [TEXT], theme: /^(?:light|dark)$/ }],
  remotes: [{ '&': REMOTE, supportedProtocolVersions: [TEXT] }],
  _meta: {},
}
