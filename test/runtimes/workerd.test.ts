import { Miniflare } from 'miniflare'
import { bundle, portableSuite } from './runtime.ts'

portableSuite('workerd', async (line) => {
  const script = await bundle('worker.ts', ['workerd', 'worker'])
  const miniflare = new Miniflare({
    modules: true,
    script,
    compatibilityDate: '2026-04-26',
    cf: false,
  })
  try {
    const response = await miniflare.dispatchFetch('http://localhost/')
    for (const text of (await response.text()).trim().split('\n')) line(text)
  } finally {
    await miniflare.dispose()
  }
})
