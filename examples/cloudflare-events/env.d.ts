// The types that `wrangler types` would generate.
declare module 'cloudflare:workers' {
  interface Env {
    SHIPMENTS: { send(message: object): Promise<unknown> }
    API_KEY: string
    /** Receives the webhooks in place of their URLs; for tests. */
    WEBHOOK_PROXY?: string
  }
}
