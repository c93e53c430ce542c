/**
 * The JSON-RPC messages in a body.
 *
 * @see https://www.jsonrpc.org/specification
 */
import { isObject } from 'edgewise/browser'
import type { Body } from './record.ts'

/** A message as it came, with members that were not checked. */
export interface Message {
  readonly [member: string]: unknown
}

/** Returns the messages in a body: one, those of a batch, or none if it is something else. */
export function messagesOf({ json }: Body): readonly Message[] {
  const messages = Array.isArray(json) ? json : [json]
  return messages.every(isMessage) ? messages : []
}

function isMessage(value: unknown): value is Message {
  if (!isObject(value)) return false
  return typeof value['method'] === 'string' || isResponse(value)
}

/** Whether a message is a response. */
export function isResponse(message: Message): boolean {
  return 'result' in message || isObject(message['error'])
}
