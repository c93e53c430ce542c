/**
 * The features that revisions added to the protocol, each as the `order` of the revision that
 * introduced it. They are numbers, which bundlers inline.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/changelog
 */
import type { RevisionFacts } from './revisions.ts'

// 2025-03-26

/** Content of the type `audio`. */
export const AUDIO = 2
/** The `message` of `notifications/progress`. */
export const PROGRESS_MESSAGES = 2
/** The capability `completions`; 2024-11-05 has completions without it. */
export const COMPLETIONS_CAPABILITY = 2
/** The `annotations` of a tool. */
export const TOOL_ANNOTATIONS = 2

// 2025-06-18

/** Content of the type `resource_link`. */
export const RESOURCE_LINKS = 3
/** `structuredContent` and output schemas. Up to and including 2025-11-25, both must be objects. */
export const STRUCTURED_CONTENT = 3
/** `title`, `_meta` and `annotations.lastModified` of items and content. */
export const ITEM_METADATA = 3
/** The `context` of `completion/complete`. */
export const COMPLETION_CONTEXT = 3
/** The version in a header of each HTTP request after `initialize`. */
export const VERSION_HEADER = 3
/** `elicitation/create`, with forms. */
export const ELICITATION = 3

// 2025-11-25

/** The `icons` of items and implementations. */
export const ICONS = 4
/** The `description` and `websiteUrl` of an implementation. */
export const IMPLEMENTATION_DETAILS = 4
/** Titled options, multiple choice, and defaults of any type in forms. */
export const RICH_FORMS = 4
/** Elicitation in URL mode, and with it the `mode`. */
export const URL_ELICITATION = 4
/** Sampling with tools, and messages of several blocks. */
export const SAMPLING_TOOLS = 4
/** Results with `isError` for arguments that a tool's schema rejects. */
export const ARGUMENT_ERROR_RESULTS = 4
/** The capability `sampling.context`. */
export const SAMPLING_CONTEXT = 4

/** Whether a revision has a feature. */
export function supports({ order }: RevisionFacts, feature: number): boolean {
  return order >= feature
}
