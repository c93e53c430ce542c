/** The little that tests need of the databases of other runtimes. */
declare module 'node:sqlite' {
  export class DatabaseSync {
    constructor(path: string)
    exec(script: string): void
    prepare(query: string): { all(...bindings: (string | number | null)[]): unknown[] }
  }
}
declare module 'bun:sqlite' {
  export class Database {
    constructor(path: string)
    exec(script: string): void
    prepare(query: string): { all(...bindings: (string | number | null)[]): unknown[] }
  }
}
