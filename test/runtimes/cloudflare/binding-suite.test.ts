import { describe } from 'vitest'
import { connect } from 'edgewise/client'
import { testElsewhere } from '../elsewhere.ts'
import { bindingSuite } from './binding-suite.ts'
import { bundleWorker, startWorker } from './workerd.ts'

describe('Portable suite over a service binding', () => {
  const titles = Object.keys(bindingSuite((options) => connect('', options)))
  testElsewhere(async (line) => {
    const workerd = await startWorker(await bundleWorker('binding-suite-worker.ts'), {
      name: 'suite',
      serviceBindings: { PORTABLE: { name: 'suite', entrypoint: 'Portable' } },
    })
    const printed = await (await workerd.get('/')).text()
    for (const each of printed.split('\n')) line(each)
    await workerd.stop()
  }, titles)
})
