import { describe, expect, it } from 'vitest'
import { EventStream } from '#internal/http'

describe('a stream of events', () => {
  it('is cut when its reader lags behind by more than the bound, and says so once', async () => {
    const gone: Error[] = []
    const stream = new EventStream({
      keepAliveMs: 0,
      maxQueuedBytes: 1000,
      onDisconnect: (reason) => gone.push(reason),
    })
    // What the body takes without a reader, and then what may wait
    const data = `data: ${'x'.repeat(500)}\n\n`
    while (stream.open) void stream.write(data)
    await stream.write(data)

    expect(gone).toMatchObject([{ code: 'LIMIT_EXCEEDED' }])
    await expect(new Response(stream.body).text()).rejects.toThrow('The client reads too slowly')
  })

  it('makes its writer wait while its reader lags behind', async () => {
    const stream = new EventStream({ keepAliveMs: 0 })
    let waits: Promise<void> | undefined
    while (!waits) waits = stream.write(`data: ${'x'.repeat(1000)}\n\n`)
    const text = new Response(stream.body).text()
    await waits
    stream.close()
    expect(await text).toMatch(/^(data: x{1000}\n\n)+$/)
  })

  it('reports once that its reader disconnected', async () => {
    const gone: Error[] = []
    const stream = new EventStream({ onDisconnect: (reason) => gone.push(reason) })
    await stream.body.cancel()
    stream.close()
    expect(gone).toMatchObject([{ code: 'CLOSED' }])
    expect(stream.open).toBe(false)
  })

  it('keeps a quiet connection open by comments', async () => {
    const stream = new EventStream({ keepAliveMs: 1 })
    const reader = stream.body.getReader()
    const { value } = await reader.read()
    expect(new TextDecoder().decode(value)).toBe(':\n\n')
    await reader.cancel()
  })
})
