/** The folders whose tests need the build, a browser, or another program or runtime. */
export const built: readonly string[] = ['package', 'peers', 'playground', 'runtimes']

/** The folders whose tests need a Postgres server. */
export const database: readonly string[] = ['postgres', 'runtimes/postgres']

/** The folders whose tests need a module graph of their own: their sources keep state for the whole process. */
export const isolated: readonly string[] = ['gateway']
