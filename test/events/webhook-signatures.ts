/** Checks the signatures of requests that a test received. */
import { isTimely, verifyWebhook } from '../../src/events/signature.ts'
import { SECRET, type Received } from './webhook-world.ts'

/** Whether a request is signed with a secret, and its timestamp is current at its arrival. */
export async function isSigned({ headers, text, at }: Received, secret = SECRET): Promise<boolean> {
  const id = headers['webhook-id'] ?? ''
  const timestamp = headers['webhook-timestamp'] ?? ''
  const body = new TextEncoder().encode(text)
  const signatures = headers['webhook-signature'] ?? ''
  return isTimely(timestamp, at) && verifyWebhook(secret, { id, timestamp, body }, signatures)
}
