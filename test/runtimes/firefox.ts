// A Firefox of this machine, which opens pages that report their own outcome.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OpenedPage } from './browser-suites.ts'

const debian = '/usr/bin/firefox-esr'

/**
 * The Firefox that tests use: the one that is named, or where Debian installs it. CI has no time for one
 * that is not named.
 */
export const firefoxPath: string | undefined =
  process.env.FIREFOX_PATH || (!process.env.CI && existsSync(debian) ? debian : undefined)

/** Keeps it from pages, questions and requests of its own. */
const preferences = {
  'app.normandy.enabled': false,
  'app.update.auto': false,
  'browser.aboutwelcome.enabled': false,
  'browser.safebrowsing.update.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  // So that a page can open another one, and use it
  'dom.disable_open_during_load': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,#',
  'toolkit.telemetry.reportingpolicy.firstRun': false,
}

/** Opens a page in a headless Firefox with a profile of its own. */
export async function openFirefox(url: string): Promise<OpenedPage> {
  if (!firefoxPath)
    throw new Error('No Firefox found: install firefox-esr, or name one in FIREFOX_PATH')
  const profile = await mkdtemp(join(tmpdir(), 'firefox-'))
  const lines = Object.entries(preferences).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
  )
  await writeFile(join(profile, 'user.js'), lines.join(''))
  const args = ['--headless', '--no-remote', '--profile', profile, url]
  const firefox = spawn(firefoxPath, args, { stdio: 'ignore' })
  const ended = once(firefox, 'exit')
  return {
    async close() {
      firefox.kill()
      await ended
      await rm(profile, { recursive: true, force: true })
    },
  }
}
