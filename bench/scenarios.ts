/** The requests that the fetch benchmarks send to an endpoint. */
import type { ToolSet } from './subject.ts'

/** A request to repeat, and what its response must contain. */
export interface Scenario {
  tools: ToolSet
  method: 'tools/call' | 'tools/list'
  params: Record<string, unknown>
  /** Whether the response is correct. */
  answered: (body: string) => boolean
  /** The number of concurrent requests; together they count as one call. Default: 1. */
  concurrent?: number
}

const text = 'The quick brown fox jumps over the lazy dog'

const progress = (steps: number): Pick<Scenario, 'tools' | 'method' | 'params' | 'answered'> => ({
  tools: 'streaming',
  method: 'tools/call',
  params: { name: 'progress', arguments: { steps }, _meta: { progressToken: 'p' } },
  answered: (body) =>
    body.split('notifications/progress').length - 1 === steps && body.includes('"done"'),
})

export const scenarios = {
  echo: {
    tools: 'echo',
    method: 'tools/call',
    params: { name: 'echo', arguments: { text } },
    answered: (body) => body.includes(`"text":"${text}"`),
  },
  list: {
    tools: 100,
    method: 'tools/list',
    params: {},
    answered: (body) => body.includes('"search_99"'),
  },
  large: {
    tools: 'streaming',
    method: 'tools/call',
    params: { name: 'large', arguments: { bytes: 1_000_000 } },
    answered: (body) => body.length > 1_000_000,
  },
  progress: progress(1000),
  concurrent: { ...progress(5), concurrent: 200 },
} satisfies Record<string, Scenario>

/** The name of a scenario. */
export type ScenarioName = keyof typeof scenarios
