// What the bakery has stored: its price, and the cakes that it baked and delivered. All processes
// share it. Nothing here happens twice: each row has a key under which it is stored once.
import type { Sql } from 'postgres'

/** The tables of the bakery, in the schema `bakery`. */
export interface Bakery {
  price(): Promise<number>
  setPrice(price: number): Promise<void>
  /** Bakes one cake of an order; does nothing if it was baked already. */
  bake(order: string, cake: number): Promise<void>
  /** Delivers an order; does nothing if it was delivered already. */
  deliver(order: string): Promise<void>
}

/** Creates the tables, unless another process has created them or is creating them. */
export async function openBakery(sql: Sql, instance: string): Promise<Bakery> {
  await sql.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(1)`
    await tx`CREATE SCHEMA IF NOT EXISTS bakery`
    await tx`CREATE TABLE IF NOT EXISTS bakery.menu (id int PRIMARY KEY, price int NOT NULL)`
    await tx`INSERT INTO bakery.menu VALUES (1, 20) ON CONFLICT DO NOTHING`
    // Which parts of an order are done, and which process tried to do them
    await tx`CREATE TABLE IF NOT EXISTS bakery.done ("order" text, part text, PRIMARY KEY ("order", part))`
    await tx`CREATE TABLE IF NOT EXISTS bakery.attempts ("order" text, part text, instance text)`
  })
  const storeOnce = async (order: string, part: string): Promise<void> => {
    await sql`INSERT INTO bakery.attempts VALUES (${order}, ${part}, ${instance})`
    await sql`INSERT INTO bakery.done VALUES (${order}, ${part}) ON CONFLICT DO NOTHING`
  }
  return {
    async price() {
      const [row] = await sql<{ price: number }[]>`SELECT price FROM bakery.menu`
      return row?.price ?? 0
    },
    async setPrice(price) {
      await sql`UPDATE bakery.menu SET price = ${price}`
    },
    async bake(order, cake) {
      await new Promise((done) => setTimeout(done, 100))
      await storeOnce(order, `cake ${cake}`)
    },
    deliver: (order) => storeOnce(order, 'delivery'),
  }
}
