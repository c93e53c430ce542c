// The frame of the suite across an iframe: it serves the page around it, on ports.
import { servePorts } from 'edgewise/browser'
import * as portable from './server.ts'

servePorts(portable.server, { origins: [location.origin], source: parent })

// What the suite inspects in addition to the client's results
Object.assign(globalThis, { portable })
