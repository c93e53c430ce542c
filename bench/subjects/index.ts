/** Every subject that can be measured over fetch, loaded one at a time. */
import type { HttpSubject } from '../subject.ts'

/** The loader of each subject, by its row label. The floor comes first. */
export const subjects = {
  floor: () => import('./floor.ts'),
  edgewise: () => import('./edgewise.ts'),
  'official v2': () => import('./official.ts'),
  'mcp-lite': () => import('./mcp-lite.ts'),
  tmcp: () => import('./tmcp.ts'),
} satisfies Record<string, () => Promise<{ subject: HttpSubject }>>

/** The row label of a subject. */
export type SubjectName = keyof typeof subjects
