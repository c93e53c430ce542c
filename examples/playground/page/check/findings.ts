/**
 * Shows the findings of a check, by severity and rule.
 */
import { groupFindings, type Finding, type RuleFindings, type Severity } from '#internal/check'
import { el } from '../dom.ts'

const VIOLATION = 'The server violates the specification.'
const BLOCKED = 'The CORS headers of the server keep Web pages from using it.'
const headings: Readonly<Record<Severity, [title: string, meaning: string]>> = {
  error: ['Errors', VIOLATION],
  warning: ['Warnings', 'Some hosts, model APIs or Web pages cannot use a part of the server.'],
  note: ['Notes', 'Nothing fails, but the server could be improved, or was not checked.'],
}

/** The maximum number of entries that are named for one message. */
const MAX_SUBJECTS = 20

/** Creates a section for each severity. Of each, what keeps clients from working comes first. */
export function findingList(findings: readonly Finding[]): HTMLElement[] {
  const groups = groupFindings(findings)
  return Object.entries(headings).flatMap(([severity, [title, meaning]]) => {
    const found = groups.filter((group) => group.severity === severity)
    if (found.length === 0) return []
    const count = el('span', { class: 'count' }, `${found.length}`)
    return [
      el(
        'section',
        { class: 'findings', 'data-severity': severity },
        el('h2', {}, title, ' ', count),
        el('p', { class: 'note' }, severity === 'error' ? meaningOfErrors(found) : meaning),
        el('ul', {}, ...found.map(ruleItem)),
      ),
    ]
  })
}

function meaningOfErrors(found: readonly RuleFindings[]): string {
  const blocked = found.filter(({ rule }) => rule.startsWith('cors-'))
  if (blocked.length === 0) return VIOLATION
  return blocked.length === found.length ? BLOCKED : `${VIOLATION} ${BLOCKED}`
}

function ruleItem({ rule, requirement, url, messages }: RuleFindings): HTMLElement {
  return el(
    'li',
    {},
    ...messages.map(({ message, subjects }) =>
      el('p', { class: 'text' }, ...subjectsOf(subjects), el('strong', {}, message)),
    ),
    el(
      'p',
      { class: 'note' },
      `Expected: ${requirement} `,
      el('code', {}, rule),
      ' ',
      el('a', { href: url, target: '_blank', rel: 'noreferrer' }, 'Specification'),
    ),
  )
}

function subjectsOf(subjects: readonly string[]): (Node | string)[] {
  if (subjects.length === 0) return []
  const more = subjects.length - MAX_SUBJECTS
  const names = subjects.slice(0, MAX_SUBJECTS).map((name) => el('code', {}, name))
  const listed = names.flatMap((name, index) => (index === 0 ? [name] : [', ', name]))
  return [...listed, more > 0 ? ` and ${more} more: ` : ': ']
}
