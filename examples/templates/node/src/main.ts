#!/usr/bin/env node
// A host starts this program and connects to it over stdin and stdout.
import { serveStdio } from 'edgewise/node'
import { server } from './server.ts'

await serveStdio(server)
