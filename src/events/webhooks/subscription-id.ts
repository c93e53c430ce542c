/**
 * The identity of webhook subscriptions.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { digest } from '../../patterns/digest.ts'
import type { JsonObject } from '../../protocol/types.ts'

/**
 * The id of a subscription, which depends only on the principal, the URL, the name of the event type
 * and the arguments. It has 192 bits of a SHA-256 digest.
 */
export async function subscriptionId(
  principal: string,
  url: string,
  name: string,
  args: JsonObject,
): Promise<string> {
  return `sub_${(await digest([principal, url, name, args])).slice(0, 32)}`
}
