/** The folders whose tests need the build, a browser, or another program or runtime. */
export const built: readonly string[] = ['package', 'peers', 'playground', 'runtimes']

/** The folders whose tests need a Postgres server. */
export const database: readonly string[] = ['postgres', 'runtimes/postgres']

/** The folders whose tests replace modules, so that each test file needs a module graph of its own. */
export const isolated: readonly string[] = ['gateway']
