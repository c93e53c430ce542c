/** The folders whose tests need the build, a browser, or another program or runtime. */
export const built: readonly string[] = ['package', 'peers', 'playground', 'runtimes']

/** The folders whose tests need a Postgres server. */
export const database: readonly string[] = ['postgres', 'runtimes/postgres']

/** The test files that take longest, which start first, so that nothing waits for them at the end. */
export const longest: readonly string[] = [
  'test/package/examples.test.ts',
  'test/runtimes/cloudflare/lifetime.test.ts',
  'test/runtimes/cloudflare/hub-down.test.ts',
  'test/postgres/deployment.test.ts',
  'test/postgres/outage.test.ts',
  'test/runtimes/cloudflare/hub.test.ts',
  'test/package/docs.test.ts',
  'test/runtimes/authorization/browser.test.ts',
  'test/playground/accessibility.test.ts',
  'test/runtimes/browser/ports.test.ts',
  'test/package/package.test.ts',
  'test/runtimes/browser/web-mcp.test.ts',
  'test/runtimes/browser/page.test.ts',
  'test/runtimes/node/cli/new.test.ts',
  'test/runtimes/transport/stdio/serve.test.ts',
  'test/runtimes/transport/http/serve.test.ts',
  'test/runtimes/cloudflare/setup.test.ts',
]
