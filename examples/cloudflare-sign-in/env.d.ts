// The types that `wrangler types` would generate.
declare module 'cloudflare:workers' {
  interface Namespace {
    get(key: string): Promise<string | null>
    put(key: string, value: string): Promise<void>
  }
  interface Env {
    ORIGIN: string
    NOTES: Namespace
  }
  export const env: Env
}
