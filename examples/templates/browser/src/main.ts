// A page that lists the tools of a server.
import { connect, fetchFaultOf, type Client } from 'edgewise/browser'
import { describeTools } from './tools.ts'

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
    for (const line of await describeTools(client)) {
      const item = document.createElement('li')
      item.textContent = line
      list.append(item)
    }
  } catch (error) {
    status.textContent = fetchFaultOf(error)?.advice ?? String(error)
  }
}
