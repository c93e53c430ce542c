/** Checks the records of an imported session. */
import { isObject } from 'edgewise/browser'
import { isLevel } from './levels.ts'
import { STEP_STATES, type SessionRecord } from './record.ts'

/** Checks one member, and describes what it must be. */
interface Check {
  test(value: unknown): boolean
  readonly description: string
}

const text: Check = { test: (value) => typeof value === 'string', description: 'a string' }
const number: Check = { test: Number.isFinite, description: 'a number' }
const boolean: Check = { test: (value) => typeof value === 'boolean', description: 'a boolean' }
const headers: Check = {
  test: (value) => isObject(value) && Object.values(value).every(text.test),
  description: 'an object with strings',
}
const level: Check = { test: isLevel, description: 'a level' }
const state: Check = {
  test: (value) => STEP_STATES.some((each) => each === value),
  description: STEP_STATES.map((each) => `"${each}"`).join(' or '),
}
const optional = ({ test, description }: Check): Check => ({
  test: (value) => value === undefined || test(value),
  description,
})

const body = { text: optional(text), length: optional(number) }

/** What the members of each type must be. Other members are ignored. */
const checks: { readonly [Type in SessionRecord['type']]: { readonly [member: string]: Check } } = {
  request: {
    http: number,
    client: number,
    check: optional(number),
    method: text,
    url: text,
    headers,
    ...body,
  },
  response: {
    http: number,
    status: number,
    statusText: text,
    headers,
    isCrossOrigin: optional(boolean),
  },
  message: { http: number, event: optional(text), eventId: optional(text), ...body },
  end: { http: number, error: optional(text), aborted: optional(boolean) },
  notice: { level, text, tool: optional(text) },
  mark: { text, check: optional(number), outcome: optional(text), failed: optional(boolean) },
  step: {
    id: number,
    title: text,
    url: text,
    state,
    status: optional(number),
    summary: optional(text),
  },
  unanswered: { method: text, code: text },
}

/** Describes what is wrong with a record. Returns `undefined` if it is valid. */
export function faultOf(value: unknown): string | undefined {
  if (!isObject(value)) return 'it is not an object'
  const { type } = value
  if (!isType(type)) return `its type ${JSON.stringify(type)} is unknown`
  const members = Object.entries({ at: number, ...checks[type] })
  const wrong = members.find(([name, check]) => !check.test(value[name]))
  return wrong && `its "${wrong[0]}" is not ${wrong[1].description}`
}

/** Whether a value is a valid record. */
export function isRecord(value: unknown): value is SessionRecord {
  return faultOf(value) === undefined
}

function isType(type: unknown): type is SessionRecord['type'] {
  return typeof type === 'string' && Object.hasOwn(checks, type)
}
