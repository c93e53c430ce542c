// The database of all tests that need one: the one that `DATABASE_URL` names, or one from npm.
import type { TestProject } from 'vitest/node'
import { startPostgres } from './server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string
  }
}

/** Called by vitest, once before all tests. */
export async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { DATABASE_URL } = process.env
  if (DATABASE_URL) {
    provide('databaseUrl', DATABASE_URL)
    return undefined
  }
  const server = await startPostgres()
  provide('databaseUrl', server.url)
  return () => server.stop()
}
