#!/usr/bin/env node
// A host starts this program and speaks to it over stdin and stdout.
import { serveStdio } from 'edgewise/node'
import { server } from './server.ts'

await serveStdio(server)
