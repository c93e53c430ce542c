/** The folders whose tests need the build, a browser, or another program or runtime. */
export const built: readonly string[] = ['package', 'peers', 'playground', 'runtimes']
