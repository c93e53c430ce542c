// A small application in React that shows a connection and calls a tool.
import { createReconnectingClient, openPort } from 'edgewise/browser'
import { useMcp } from 'edgewise/react'
import { createElement, StrictMode, useState, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'

let worker = new Worker('/worker.js', { type: 'module' })
const target = (): ReturnType<typeof openPort> => openPort(worker)
const shared = createReconnectingClient(target, { retryMs: 10 })
const renders: string[] = []

function Status({ kept }: { kept: boolean }): ReactNode {
  const mcp = useMcp(kept ? shared : target, { retryMs: 10 })
  const [answer, setAnswer] = useState('')
  renders.push(mcp.status)
  const call = async (): Promise<void> => {
    if (mcp.status !== 'ready') return
    const { content } = await mcp.client.callTool('add', { a: 20, b: 22 })
    setAnswer(JSON.stringify(content))
  }
  return createElement(
    'p',
    {},
    createElement(
      'output',
      { id: 'status' },
      mcp.status === 'failed' ? mcp.error.message : mcp.status,
    ),
    createElement('button', { onClick: () => void call() }, 'Call'),
    createElement('output', { id: 'answer' }, answer),
  )
}

const root = createRoot(document.body.appendChild(document.createElement('main')))

/** What the test does to the application. */
export interface App {
  readonly shared: typeof shared
  readonly renders: string[]
  show(kept: boolean): void
  unmount(): void
  /** Ends the worker, and puts another in its place. */
  replace(): void
}

const app: App = {
  shared,
  renders,
  show: (kept) => root.render(createElement(StrictMode, {}, createElement(Status, { kept }))),
  unmount: () => root.render(null),
  replace() {
    worker.terminate()
    worker = new Worker('/worker.js', { type: 'module' })
  },
}
Object.assign(globalThis, { app })
