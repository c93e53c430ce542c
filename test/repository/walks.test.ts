// Holds the walks of docs/contributing.md against the code: tables of files and functions, in the order
// in which a message passes them.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../root.ts'

/** The most steps before the user's handler: of a request without a session, and with one. */
const MAX_STEPS = 8

const page = readFileSync(join(root, 'docs/contributing.md'), 'utf8')

/** The steps of each walk, as its table has them. */
const walks = [...page.matchAll(/^\| file +\| function +\|.*\n\|[-| ]+\|\n((?:\|.*\n)+)/gm)].map(
  ([, rows = '']) =>
    rows
      .trim()
      .split('\n')
      .map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')))
      .map(([, file = '', name = '']): [string, string] => [file, name]),
)

/** Whether a file defines a function or a method of that name. */
function defines(file: string, name: string): boolean {
  const path = join(root, file)
  if (!existsSync(path)) return false
  const definition = new RegExp(
    `^ *(?:export |override |async )*(?:function ${name}\\b|const ${name}\\b.*=>|${name}\\((?!.*\\)$))`,
    'm',
  )
  return definition.test(readFileSync(path, 'utf8'))
}

it('walks lead through files and functions that are there', () => {
  const steps = walks.flat()
  expect(steps.length).toBeGreaterThan(10)
  expect(steps.filter(([file, name]) => !defines(file, name))).toEqual([])
})

it('walks are short, and never come back to a step', () => {
  for (const walk of walks) {
    expect(walk.length).toBeLessThanOrEqual(MAX_STEPS)
    expect(new Set(walk.map((step) => step.join())).size).toBe(walk.length)
  }
})
