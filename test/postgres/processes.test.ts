// Processes of the system that share a database, one of which is killed.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { expect, inject, it, onTestFinished } from 'vitest'
import { nodeCommand } from '../node-program.ts'
import { textOf, wireOver } from '../tasks/fixture.ts'
import { eventually, openSchema } from './database.ts'

/** What a process tells. */
interface Told {
  url?: string
  step?: string
}

interface Started {
  child: ChildProcess
  steps: string[]
  url: string
}

async function startProcess(schema: string): Promise<Started> {
  const [command, ...args] = nodeCommand('test/postgres/process.ts', inject('databaseUrl'), schema)
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const steps: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`The process ended with code ${code}`)))
    child.on('message', (told: Told) => {
      if (told.step !== undefined) steps.push(told.step)
      if (told.url !== undefined) resolve(told.url)
    })
  })
  return { child, steps, url }
}

it('A task of a process that is killed is finished by one of the others, and each step happens once', async () => {
  const { schema, sql } = openSchema()
  await sql`CREATE SCHEMA ${sql(schema)}`
  await sql`CREATE TABLE ${sql(`${schema}.effects`)} (step text NOT NULL)`
  const [first, ...others] = await Promise.all([1, 2, 3].map(() => startProcess(schema)))
  if (!first) throw new Error('There are three')
  const wireTo = ({ url }: Started) => wireOver((request) => fetch(request), undefined, url)
  const taskId = await wireTo(first).start('steps')
  await eventually(() => expect(first.steps).toEqual(['one']))
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  for (const other of others) {
    const done = await wireTo(other).until(taskId, 'completed')
    expect(textOf(done.result)).toBe('done')
  }
  const effects = await sql<{ step: string }[]>`SELECT step FROM ${sql(`${schema}.effects`)}`
  expect(effects.map(({ step }) => step)).toEqual(['one', 'two', 'three'])
  // Of the others, one replays the first step, and carries out the next
  await eventually(() => expect(others.map(({ steps }) => steps.length).toSorted()).toEqual([0, 3]))
})
