/**
 * Session ids. The id of a session begins with the id of its object, which only the namespace can create. If
 * several sessions share the object, a random part follows.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */

/** Generates the id of a new session in an object. */
export function createSessionId(objectId: DurableObjectId, shared: boolean): string {
  return shared ? `${objectId.toString()}.${crypto.randomUUID()}` : objectId.toString()
}

/** Whether a session shares its object with other sessions. */
export function isShared(sessionId: string): boolean {
  return sessionId.includes('.')
}

/** Returns the id of the object of a session; `undefined` if the namespace did not create its id. */
export function objectIdOf(
  namespace: DurableObjectNamespace,
  sessionId: string,
): DurableObjectId | undefined {
  try {
    return namespace.idFromString(sessionId.split('.', 1)[0] as string)
  } catch {
    return undefined
  }
}
