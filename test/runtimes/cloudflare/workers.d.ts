/** The little that tests need of Workers' own module; its full types would clash with Node's. */
declare module 'cloudflare:workers' {
  export const env: Record<string, unknown>
  export class DurableObject {
    protected ctx: {
      readonly id: object
      abort(reason: string): void
      acceptWebSocket(socket: object): void
      getWebSockets(): { send(text: string): void }[]
      storage: {
        sql: { exec(query: string, ...bindings: unknown[]): { toArray(): Row[]; one(): Row } }
        kv: { put(key: string, value: unknown): void; get(key: string): unknown }
        transactionSync<T>(work: () => T): T
        deleteAll(): Promise<void>
        sync(): Promise<void>
        list(): Promise<Map<string, unknown>>
        deleteAlarm(): Promise<void>
        getAlarm(): Promise<number | null>
      }
    }
    alarm(): Promise<void>
  }
  export class RpcTarget {}
  export class WorkerEntrypoint {
    protected ctx: { abort(reason: Error): void }
  }
  interface Row {
    name: string
    n: number
    value: string
  }
}

declare class WebSocketPair {
  readonly 0: object
  readonly 1: object
}
