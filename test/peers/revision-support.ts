/**
 * What a server supports in a revision: a client of Edgewise, which supports all revisions, calls a
 * tool and, if the revision has questions, a tool that asks the user.
 */
import type { Revision } from '../../src/index.ts'
import { connect } from '../../src/presets/client.ts'
import { booked, greeting, textOf } from './contract.ts'
import type { ProbedServer } from './probes.ts'

/** The first revision in which servers ask the user. */
const ASKING: Revision = '2025-06-18'

/** Whether both calls succeed, only the first one, or none. */
export type RevisionSupport = 'questions' | 'calls' | 'no'

/** Calls both tools of a server. */
export async function revisionSupport(
  { url, fetch }: ProbedServer,
  revision: Revision,
): Promise<RevisionSupport> {
  try {
    await using client = await connect(url, {
      fetch: (input, init) => fetch(new Request(input, init)),
      revision,
      versionCache: new Map(),
      onElicit: () => ({ action: 'accept', content: { confirm: true } }),
      onError: () => {},
    })
    const call = async (tool: string, args: object): Promise<string> =>
      textOf((await client.callTool(tool, { ...args }, { timeoutMs: 5000 })).content[0])
    if ((await call('greet', { name: 'Ada' })) !== greeting('Ada')) return 'no'
    if (revision < ASKING) return 'calls'
    const asked = await call('book', { city: 'Oslo' }).catch(String)
    return asked === booked('Oslo', true) ? 'questions' : 'calls'
  } catch {
    return 'no'
  }
}
