import { describe } from 'vitest'
import { browserSuites } from './browser-suites.ts'
import { firefoxPath, openFirefox } from './firefox.ts'

const title = firefoxPath ? 'In Firefox' : 'In Firefox (skipped: name one in FIREFOX_PATH)'

describe.skipIf(!firefoxPath)(title, () => {
  browserSuites('Firefox', openFirefox)
})
