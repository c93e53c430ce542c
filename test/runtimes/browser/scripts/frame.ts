// A frame that serves only its host: `?host=` names the host's origin.
import { servePorts } from 'edgewise/browser'
import { createServer } from 'edgewise/server'

const server = createServer({ name: 'frame', version: '1.0.0' })

server.tool('who', {}, (_args, ctx) => `${ctx.principal} calls ${location.origin}`)
server.tool('hang', {}, () => new Promise<never>(() => {}))

const host = new URLSearchParams(location.search).get('host')
servePorts(server, { origins: [host ?? location.origin], source: parent })
