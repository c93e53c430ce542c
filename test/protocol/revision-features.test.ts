import { describe, expect, it } from 'vitest'
import * as features from '../../src/protocol/revision-features.ts'
import { revisions, type Revision } from '../../src/protocol/revisions.ts'

const { supports, ...numbers } = features

/** The revision that introduced each feature. */
const introducedBy: Readonly<Record<keyof typeof numbers, Revision>> = {
  AUDIO: '2025-03-26',
  PROGRESS_MESSAGES: '2025-03-26',
  COMPLETIONS_CAPABILITY: '2025-03-26',
  TOOL_ANNOTATIONS: '2025-03-26',
  RESOURCE_LINKS: '2025-06-18',
  STRUCTURED_CONTENT: '2025-06-18',
  ITEM_METADATA: '2025-06-18',
  COMPLETION_CONTEXT: '2025-06-18',
  VERSION_HEADER: '2025-06-18',
  ELICITATION: '2025-06-18',
  ICONS: '2025-11-25',
  IMPLEMENTATION_DETAILS: '2025-11-25',
  RICH_FORMS: '2025-11-25',
  URL_ELICITATION: '2025-11-25',
  SAMPLING_TOOLS: '2025-11-25',
  ARGUMENT_ERROR_RESULTS: '2025-11-25',
  SAMPLING_CONTEXT: '2025-11-25',
}

describe('A revision', () => {
  it.each(Object.entries(introducedBy))('supports %s from %s on', (name, first) => {
    const feature = Object.entries(numbers).find(([each]) => each === name)?.[1]
    const having = revisions.filter((revision) => supports(revision, Number(feature)))
    expect(having.map(({ version }) => version)).toEqual(
      revisions.map(({ version }) => version).filter((version) => version >= first),
    )
  })
})
