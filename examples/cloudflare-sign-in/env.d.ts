// The types that `wrangler types` would generate.
declare module 'cloudflare:workers' {
  interface Namespace {
    get(key: string): Promise<string | null>
    put(key: string, value: string): Promise<void>
  }
  export const env: { ORIGIN: string; NOTES: Namespace }
}
