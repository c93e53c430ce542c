// A host built with the official SDK of MCP Apps, for the frame of the page.
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

Object.assign(globalThis, {
  async host(view: Window): Promise<unknown> {
    const bridge = new AppBridge(
      null,
      { name: 'official-host', version: '1.0.0' },
      { serverTools: {} },
    )
    const initialized = new Promise<void>((resolve) => {
      bridge.oninitialized = () => resolve()
    })
    bridge.oncalltool = async ({ name }) => ({ content: [{ type: 'text', text: `ran ${name}` }] })
    await bridge.connect(new PostMessageTransport(view, view))
    Object.assign(globalThis, { hosts: true })
    await initialized
    await bridge.sendToolInput({ arguments: { city: 'Oslo' } })
    return bridge.getAppVersion()
  },
})
