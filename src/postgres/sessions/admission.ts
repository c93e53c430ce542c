/**
 * Opens sessions, with limits that apply to all processes together.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices
 */
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import { SessionQuota } from '../../session/quota.ts'
import type { SessionRecord } from '../../session/session.ts'
import { aliveCondition } from '../bus.ts'
import type { Database } from '../database.ts'
import { ALL_ACCOUNTS, NO_ACCOUNT } from './counts.ts'

/** The maximum number of sessions that are ended to make room for a new session. */
const MAX_EVICTIONS = 100

/** The limits of sessions, and how to end sessions. */
export interface AdmissionOptions {
  readonly database: Database
  readonly maxSessions: number
  readonly maxSessionsPerCaller: number
  /** Ends sessions, and returns their number. */
  readonly removeWhere: (
    condition: string,
    ...values: (string | number | null)[]
  ) => Promise<number>
}

/**
 * An SQL condition for sessions in which nothing runs and whose client does not listen. Calls that have
 * just started may not be stored yet, and are then not considered.
 */
const INACTIVE_CONDITION = `NOT EXISTS (
    SELECT FROM {mcp_streams} AS o WHERE o.session = mcp_sessions.id AND ${aliveCondition('o.owner')}
  ) AND NOT EXISTS (
    SELECT FROM {mcp_calls} AS o WHERE o.session = mcp_sessions.id AND ${aliveCondition('o.owner')}
  ) AND (listener IS NULL OR NOT ${aliveCondition('listener')})`

/**
 * An SQL expression: the sum of the weights of an account's sessions. {@link SessionQuota} sets the weights.
 *
 * @param account An SQL expression.
 */
function sessionCount(account: string): string {
  return `(SELECT coalesce(sum(total), 0) FROM {mcp_counts} WHERE account = ${account})`
}

/** An SQL expression: the id of the least recently used inactive session that meets a condition. */
function leastRecentlyUsed(condition: string): string {
  return `(SELECT id FROM {mcp_sessions} WHERE ${condition} AND ${INACTIVE_CONDITION} ORDER BY used_at LIMIT 1)`
}

/** Opens sessions. */
export class Admission {
  readonly #options: AdmissionOptions
  readonly #quota: SessionQuota

  constructor(options: AdmissionOptions) {
    this.#options = options
    this.#quota = new SessionQuota(options.maxSessions, options.maxSessionsPerCaller)
  }

  /**
   * Stores a new session and returns its id. At the limits, the least recently used inactive session of the
   * same account is ended. If there is no such session, and the account is below its own limit, a session of
   * the account with the most sessions is ended.
   *
   * @throws {ProtocolError} `INTERNAL_ERROR` If the database cannot be used, or no session can end.
   */
  async open(record: SessionRecord, account: string | undefined): Promise<string> {
    const weight = this.#quota.weigh(record)
    const id = crypto.randomUUID()
    for (let evictions = 0; evictions < MAX_EVICTIONS; evictions++) {
      if (await this.#insert(id, record, account ?? null, weight)) return id
      if (!(await this.#evict(account ?? null, weight))) break
    }
    throw new ProtocolError(INTERNAL_ERROR, 'Too many sessions are in use')
  }

  /**
   * Inserts the session unless a limit is reached. Sessions that other processes open at the same time are
   * not counted. Returns whether the session was inserted.
   */
  async #insert(
    id: string,
    record: SessionRecord,
    account: string | null,
    weight: number,
  ): Promise<boolean> {
    const { database, maxSessions, maxSessionsPerCaller } = this.#options
    const rows = await database.query(
      `INSERT INTO {mcp_sessions} (id, record, account, weight)
       SELECT $1, $2, $3::text, $4::int
       WHERE ${sessionCount(`'${ALL_ACCOUNTS}'`)} + $4 <= $5::float8
         AND ($3::text IS NULL OR ${sessionCount('$3')} + $4 <= $6::float8)
       RETURNING id`,
      id,
      JSON.stringify(record),
      account,
      weight,
      maxSessions,
      maxSessionsPerCaller,
    )
    return rows.length > 0
  }

  /** Ends one session to make room. Returns whether a session could be ended. */
  async #evict(account: string | null, weight: number): Promise<boolean> {
    const { maxSessionsPerCaller, removeWhere } = this.#options
    const accountCondition = account === null ? 'account IS NULL' : 'account = $1'
    // If no session of the account can end, and the account is below its limit, a session of another
    // account is ended. The accounts with the most sessions are tried first. Sessions without an account
    // are counted under `NO_ACCOUNT`
    const endedCount = await removeWhere(
      `id = coalesce(${leastRecentlyUsed(accountCondition)}, (
         SELECT found.id
         FROM (
           SELECT account FROM {mcp_counts} WHERE account <> '${ALL_ACCOUNTS}'
           GROUP BY account ORDER BY sum(total) DESC
         ) AS counted
         CROSS JOIN LATERAL (SELECT coalesce(
           ${leastRecentlyUsed('account = counted.account')},
           ${leastRecentlyUsed(`account IS NULL AND counted.account = '${NO_ACCOUNT}'`)}
         ) AS id) AS found
         WHERE found.id IS NOT NULL
           AND ($1::text IS NULL OR ${sessionCount('$1')} + $2::int <= $3::float8)
         LIMIT 1
       ))`,
      account,
      weight,
      maxSessionsPerCaller,
    )
    return endedCount > 0
  }
}
