/** The folders whose tests need the build, a browser, or another program or runtime. */
export const built: readonly string[] = ['package', 'peers', 'playground', 'runtimes']

/** The folders whose tests need a Postgres server. */
export const database: readonly string[] = ['postgres', 'runtimes/postgres']

/** The folders whose tests may share one module graph: nothing of theirs goes on after its test file. */
export const shared: readonly string[] = [
  ...['authorization', 'client', 'connect', 'json-schema', 'patterns', 'protected-resource'],
  ...['protocol', 'repository', 'schema', 'spec', 'testing', 'toolset'],
]
