/**
 * The ids of sessions: that of the object, which the namespace minted and nobody can make up; where
 * several sessions share an object, a random part of their own follows.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */

/** The id of a new session in an object. */
export function mintSessionId(object: DurableObjectId, shared: boolean): string {
  return shared ? `${object.toString()}.${crypto.randomUUID()}` : object.toString()
}

/** Whether a session shares its object. */
export function isShared(sessionId: string): boolean {
  return sessionId.includes('.')
}

/** The object of a session; nothing when the namespace did not mint its id. */
export function objectOf(
  namespace: DurableObjectNamespace,
  sessionId: string,
): DurableObjectId | undefined {
  try {
    return namespace.idFromString(sessionId.split('.', 1)[0] as string)
  } catch {
    return undefined
  }
}
