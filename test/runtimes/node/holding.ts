// Holds the turn of a key until it is killed.
import { fileTokenStore } from '../../../runtimes/node/index.ts'

const [, , folder = ''] = process.argv
await fileTokenStore(folder).withLock('k', async () => {
  console.log('held')
  await new Promise((resolve) => setTimeout(resolve, 3_600_000))
})
