// A page that lists the tools of a server.
import { connect, fetchFaultOf, type Client } from 'edgewise/browser'

const form = document.querySelector('form') as HTMLFormElement
const status = document.querySelector('#status') as HTMLElement
const list = document.querySelector('#tools') as HTMLElement
let client: Client | undefined

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void show(String(new FormData(form).get('url')))
})

async function show(url: string): Promise<void> {
  status.textContent = 'Connecting…'
  list.replaceChildren()
  try {
    await client?.close()
    client = await connect(url)
    status.textContent = `${client.serverInfo?.name ?? 'The server'} uses revision ${client.revision}`
    for await (const { name, description = '' } of client.tools()) {
      const item = document.createElement('li')
      item.textContent = `${name}: ${description}`
      list.append(item)
    }
  } catch (error) {
    status.textContent = fetchFaultOf(error)?.advice ?? String(error)
  }
}
