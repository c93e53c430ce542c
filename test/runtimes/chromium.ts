// The Chromium that tests run in: the one inside an npm package, https://github.com/Sparticuz/chromium,
// or another one of this machine.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext } from 'playwright-core'
import manifest from '../../package.json' with { type: 'json' }
import { PATIENCE } from '../patience.ts'
import { root } from '../root.ts'

const cache = join(root, '.cache')
const home = join(cache, `chromium-${manifest.devDependencies['@sparticuz/chromium']}`)

/** The executable of a full Chromium or Chrome that tests are to use, if one is named. */
export const fullChromium: string | undefined = process.env.CHROMIUM_PATH || undefined

/**
 * A full Chromium or Chrome, for what the one from npm lacks or may lay out differently: the one that
 * is named, or where systems install it. CI has no time for one that is not named.
 */
export const installedChromium: string | undefined =
  fullChromium ??
  ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(
    (path) => !process.env.CI && existsSync(path),
  )

/** A Chromium as one test file uses it. Closing it closes only what was opened in it. */
export type SharedBrowser = Pick<Browser, 'newContext' | 'newPage' | 'close'>

/** The running browsers, by executable and arguments. They end with this process. */
const running = new Map<string, Promise<Browser>>()

/**
 * Opens the Chromium that all test files of this process share. Names below `.test` lead to this machine.
 *
 * @param executable The program, if not the one from npm.
 */
export async function openChromium(
  args: readonly string[] = [],
  executable: string | undefined = fullChromium,
): Promise<SharedBrowser> {
  const browser = await shared(args, executable)
  const contexts: BrowserContext[] = []
  return {
    async newContext(options) {
      const context = await browser.newContext(options)
      contexts.push(context)
      return context
    },
    async newPage(options) {
      const page = await browser.newPage(options)
      contexts.push(page.context())
      return page
    },
    async close() {
      await Promise.all(contexts.map((context) => context.close()))
    },
  }
}

function shared(args: readonly string[], executable: string | undefined): Promise<Browser> {
  const key = JSON.stringify([executable, ...args])
  const known = running.get(key)
  if (known) return known
  const started = launchChromium(
    ['--host-resolver-rules=MAP *.test 127.0.0.1', ...args],
    executable,
  )
  running.set(key, started)
  const forget = (): unknown => running.delete(key)
  started.then((browser) => browser.once('disconnected', forget), forget)
  return started
}

/**
 * Starts a headless Chromium; the first start of the one from npm unpacks it into `.cache`.
 *
 * @param executable The program, if not the one from npm.
 */
export async function launchChromium(
  args: readonly string[] = [],
  executable: string | undefined = fullChromium,
): Promise<Browser> {
  const common = {
    timeout: 2 * PATIENCE.timeout,
    // Pages are to be left and come back to as users have it
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  }
  const safe = ['--no-sandbox', '--disable-gpu', ...args]
  if (executable) {
    return chromium.launch({ ...common, executablePath: executable, args: [...quiet, ...safe] })
  }
  if (!existsSync(home)) await unpack()
  return chromium.launch({
    ...common,
    executablePath: join(home, 'chromium'),
    args: safe,
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(home, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(home, 'fonts.conf'),
    },
  })
}

/** Turns off the background network traffic of a full Chromium. */
const quiet = ['--disable-quic', '--disable-component-update', '--disable-sync']

/** The fonts that came with Chromium; the file in its package looks for them on AWS Lambda only. */
const fonts = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
</fontconfig>
`

// The package unpacks to the temporary folder. Moving it into its place at the end keeps test files
// that run at the same time from seeing half of it.
async function unpack(): Promise<void> {
  const part = `${home}-${process.pid}`
  const { TMPDIR } = process.env
  mkdirSync(part, { recursive: true })
  process.env.TMPDIR = part
  process.env.AWS_EXECUTION_ENV = 'AWS_Lambda_nodejs20.x'
  try {
    const { default: packed } = await import('@sparticuz/chromium')
    packed.setGraphicsMode = false
    await packed.executablePath()
    writeFileSync(join(part, 'fonts.conf'), fonts)
    renameSync(part, home)
  } catch (error) {
    // Another test file may have been first.
    if (!existsSync(join(home, 'chromium'))) throw error
  } finally {
    rmSync(part, { recursive: true, force: true })
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}
