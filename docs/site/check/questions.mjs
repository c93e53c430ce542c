// What new users type into the search box, and the pages that answer it.

/** The questions, each with the pages of which one must be among the first three results. */
export const questions = [
  { question: 'first server', pages: ['start', 'guides/server', 'tutorial-node-stdio'] },
  { question: 'express', pages: ['guides/frameworks'] },
  { question: 'next.js route', pages: ['guides/frameworks'] },
  { question: 'auth0', pages: ['guides/identity-providers'] },
  { question: 'entra id audience', pages: ['guides/identity-providers'] },
  { question: 'api key', pages: ['guides/protect'] },
  { question: 'deploy docker', pages: ['guides/deploy'] },
  { question: 'add to claude desktop', pages: ['guides/install', 'guides/hosts'] },
  { question: 'cursor log file', pages: ['guides/hosts'] },
  { question: 'ask the user for confirmation', pages: ['guides/asking'] },
  { question: 'progress bar', pages: ['guides/progress'] },
  { question: 'unit test a tool', pages: ['guides/testing'] },
  { question: 'load balancer sessions', pages: ['guides/several-processes'] },
  { question: 'mcpagent migrate', pages: ['migrate-mcp-agent'] },
  { question: 'official sdk difference', pages: ['comparison', 'comparison/official-v2'] },
  { question: 'bun', pages: ['tutorial-bun'] },
  { question: 'cors browser client', pages: ['guides/browser', 'guides/serving'] },
  { question: 'durable object cost', pages: ['cloudflare', 'cloudflare-requests'] },
  { question: 'upload image from tool', pages: ['guides/tools'] },
  { question: 'playground', pages: ['guides/playground'] },
]
