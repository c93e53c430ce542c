/** The questions of servers. Loaded on demand, because most servers ask for nothing. */
export { ask } from './ask.ts'
export { sample } from './sample.ts'
