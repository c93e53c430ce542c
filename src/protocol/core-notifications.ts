/**
 * The notifications of the core protocol, whose names extensions cannot use.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
const CORE_NOTIFICATION =
  /^notifications\/(?:cancelled|progress|message|initialized|elicitation\/complete|resources\/updated|(?:tools|prompts|resources|roots)\/list_changed|subscriptions\/acknowledged)$/

/** Whether the core protocol defines a notification of this name, in any revision. */
export function isCoreNotification(method: string): boolean {
  return CORE_NOTIFICATION.test(method)
}
