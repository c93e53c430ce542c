// A client that listens to a task.
import { onTestFinished } from 'vitest'
import { connect } from '../../src/presets/client.ts'
import { createHandler, type Server } from '../../src/presets/server.ts'
import { KNOWS } from '../tasks/fixture.ts'

/** The statuses and status messages of which a client of a server is notified, as they come. */
export async function watchTask(server: Server, taskId: string): Promise<readonly unknown[][]> {
  const handle = createHandler(server)
  onTestFinished(() => handle.close())
  const client = await connect('http://localhost/mcp', {
    fetch: (url, init) => handle(new Request(url, init)),
    capabilities: KNOWS,
  })
  onTestFinished(() => client.close())
  const seen: unknown[][] = []
  const listening = await client.listen({ taskIds: [taskId] })
  const read = async (): Promise<void> => {
    for await (const { params } of listening) seen.push([params?.status, params?.statusMessage])
  }
  const reading = read()
  onTestFinished(() => {
    listening.close()
    return reading
  })
  return seen
}
