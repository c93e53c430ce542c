// Closes a run with one line that says how many tests passed and how many failed.
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/**
 * Prints `N passed, N failed` as the last line of the run, after `N skipped` when some were, and makes
 * the run fail if a test did.
 *
 * A file that did not load, a hook that threw and an error outside of any test count as failed.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      count.failed += module.errors().length
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length
      for (const test of module.children.allTests()) count[test.result().state]++
    }
    const line = `${count.passed} passed, ${count.failed} failed`
    const skipped = count.skipped + count.pending
    // On exit, so that no other reporter prints after it
    process.once('exit', () => {
      console.log(skipped > 0 ? `${skipped} skipped\n${line}` : line)
      // The database of the tests ends the process with status 0, whatever failed
      if (count.failed > 0) process.exitCode = 1
    })
  }
}
