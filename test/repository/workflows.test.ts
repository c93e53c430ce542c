// The files in .github against the repository that they belong to. CI lints the workflows themselves.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { root } from '../root.ts'

interface Job {
  uses?: string
  steps?: { uses?: string; run?: string }[]
  'timeout-minutes'?: number
  strategy?: { matrix: { node?: number[]; include?: { command: string }[] } }
}
interface Workflow {
  permissions?: object
  jobs: Record<string, Job>
}
type ExtraFile = string | { path: string; jsonpath: string }

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const manifest = JSON.parse(read('package.json')) as {
  version: string
  engines: { node: string }
  scripts: Record<string, string>
}
const workflows = readdirSync(join(root, '.github/workflows')).map((file) => {
  const text = read(`.github/workflows/${file}`)
  return { file, text, workflow: load(text) as Workflow }
})

describe.each(workflows)('The workflow $file', ({ text, workflow }) => {
  const jobs = Object.values(workflow.jobs)

  it('starts without permissions to write, and limits the time of each job', () => {
    expect(Object.values(workflow.permissions ?? { all: 'write' })).not.toContain('write')
    for (const job of jobs) expect(job.uses ?? job['timeout-minutes']).toBeDefined()
  })

  it('runs only scripts and files that exist', () => {
    const commands = jobs.flatMap(({ steps = [], strategy }) => [
      ...steps.map(({ run = '' }) => run),
      ...(strategy?.matrix.include ?? []).map(({ command }) => command),
    ])
    for (const [, script = ''] of commands.join('\n').matchAll(/npm run (\S+)/g)) {
      expect(manifest.scripts).toHaveProperty([script])
    }
    for (const [path] of text.matchAll(/\.(?:ci|github)\/[\w./-]+/g)) {
      expect(existsSync(join(root, path)), path).toBe(true)
    }
  })

  it('names a version of each action', () => {
    const actions = [...text.matchAll(/uses: (?!\.\/)(\S+)/g)].map(([, action]) => action)
    for (const action of actions) expect(action).toMatch(/@v\d+$|^docker:.*:\d/)
  })
})

it('CI runs on the oldest Node that is supported, and on the one that .nvmrc names', () => {
  const test = workflows.find(({ file }) => file === 'test.yml')?.workflow
  const versions = test?.jobs.all?.strategy?.matrix.node ?? []
  expect(`>=${Math.min(...versions)}`).toBe(manifest.engines.node)
  expect(versions).toContain(Number(read('.nvmrc')))
})

describe('The configuration of releases', () => {
  const { packages } = JSON.parse(read('.github/release-please.json')) as {
    packages: { '.': { 'extra-files': ExtraFile[] } }
  }
  const files = packages['.']['extra-files']

  it('starts from the version of the manifest', () => {
    const versions = JSON.parse(read('.github/release-please-manifest.json')) as object
    expect(versions).toEqual({ '.': manifest.version })
  })

  it('lists the version in the sources, and each template', () => {
    const sources = files.filter((file) => typeof file === 'string')
    for (const file of sources) {
      expect(read(file)).toMatch(
        new RegExp(`'${manifest.version}'.*// x-release-please-version$`, 'm'),
      )
    }
    const paths = files.flatMap((file) => (typeof file === 'string' ? [] : [file.path]))
    const templates = readdirSync(join(root, 'examples/templates')).map((name) =>
      ['package.json', 'deno.json']
        .map((file) => `examples/templates/${name}/${file}`)
        .find((path) => existsSync(join(root, path)) && read(path).includes('"edgewise"')),
    )
    const listed = (path = ''): boolean =>
      paths.includes(path) || paths.includes(path.replace(/[^/]+(?=\/package\.json$)/, '*'))
    expect(templates.filter((path) => !listed(path))).toEqual([])
  })
})
