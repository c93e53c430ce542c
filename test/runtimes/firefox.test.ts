import { describe, it } from 'vitest'
import { browserSuites } from './browser-suites.ts'
import { firefoxPath, openFirefox } from './firefox.ts'

if (firefoxPath) describe('In Firefox', () => browserSuites('Firefox', openFirefox))
else
  it.skip('In Firefox (skipped: install firefox-esr, or name a Firefox in FIREFOX_PATH, the only way in CI)', () => {})
